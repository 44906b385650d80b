"""How far the published numbers and findings come out here, as the field reports it (QRA++).

Stage: table. In: the finished tables. Out: every published cell beside ours, measures of how far
the two agree, the papers' claims with the test that decides each, and the conditions of
measurement.
"""
