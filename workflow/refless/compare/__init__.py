"""Which method predicts these ratings, how well, and what is it worth?

Stage: ratings -> table. In: rated texts, of a user or of a data set of ours. Out: every method
under every split that the data allow, with paired intervals; a learning curve; a verdict.

``read``      the texts, and what is known of them
``splits``    who is left out together: new texts, new systems, new contexts
``readable``  which texts a kernel can read
``predict``   every method's estimates of what it has not seen; it chooses in the training part
``evaluate``  correlations and errors with the same draws for all; the table, the learning curve
``verdict``   what the tests say, and what to mind
``write``     files and page of a comparison
"""
