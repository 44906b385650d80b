"""Each from texts with ratings to one estimate of quality a candidate. Stage: prediction."""
