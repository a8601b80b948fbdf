"""The vector engine, embeddings, ranking: from a question to endpoints.

search       EndpointSearch: the face of this room
follower     keeps this process's index in step with the registry
index        VectorIndex, and its two engines: qdrant_edge (in process), qdrant_server
mirror       MirroredIndex: either engine, answered for from memory; scan and postings are its arrays
embedder     texts → dense vectors: embedded e5, an OpenAI-compatible server, or letters alone
calibration  what a model's scores mean: centring, and the map onto one scale
embed_text   the one text that the seed project embeds, kept in the payload
recipe       which texts of an endpoint are embedded, and `vectorize`, which embeds them
sparse       the hashed term-frequency vector
lexical      the weighted words and n-grams that can match at all
ranking      pure: fusion, bands
evaluation   measures search on labelled questions
"""
