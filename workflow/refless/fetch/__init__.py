"""Downloads: which files can be fetched, where they lie, and the command that brings them.

`places` has the folders and addresses, `raw_files` the files of ``resources/sources.csv``,
`encoders` the encoders of kernels.
"""
