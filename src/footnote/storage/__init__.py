"""Where the bytes of files are: a folder of this machine, or a bucket of an S3-compatible service.

Places are made by the program: no text of a user or a model is ever part of one.
"""
