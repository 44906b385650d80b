"""The papers' experiments, the comparison of every method, and how far the papers come out.

Stage: cell, table. In: ratings, kernels and predictions. Out: tidy tables of cells and curves,
beside the published values.
"""
