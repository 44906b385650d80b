"""The papers' experiments: which numbers go into which cell, one module a paper.

Stage: cell. In: ratings, kernels and predictions as arrays and tables. Out: tables of cells and
curves, tidy, before the published values are put beside them (`refless.report.published`).
"""
