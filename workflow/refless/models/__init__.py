"""The models: BLEU Neighbors (`neighbors`), and what later releases add beside it.

Stage: prediction. In: kernels or texts with ratings. Out: one estimate of quality a candidate.
"""
