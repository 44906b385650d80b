"""Which method predicts these ratings, how well, and what is it worth? The engine behind it.

Stage: ratings -> table. In: rated texts, of a user or of a data set of ours. Out: every method
under every split that the data allow, on the same candidates, with paired intervals; a learning
curve; a recommendation and warnings in words.

``rated``      the texts, and what is known of them
``splits``     who is left out together: new texts, new systems, new contexts
``predicted``  every method's estimates of what it has not seen; it chooses in the training part
``measures``   correlations, errors, rankings of systems, ratings saved, with the same draws for all
``curve``      the same with fewer ratings
``advice``     the recommendation and the warnings, as the tests say
``compared``   all of it: one call
``files``      the table, the page and the record of a comparison
"""
