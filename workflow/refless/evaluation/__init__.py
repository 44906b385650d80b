"""Which method predicts these ratings, how well, and what is it worth?"""
