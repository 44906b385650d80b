"""Which method predicts these ratings, how well, and what is it worth?

Stage: ratings -> table. In: rated texts, of a user or of a data set of ours. Out: every method
under every split that the data allow, with paired intervals; a learning curve; a verdict.
"""
