"""All knowledge of the product; knows no Celery and no HTTP server. Read the rooms in the order a turn walks them.

turn            THE FLOW: machine (what comes next), steps (one method per stage), answering and endings
classification  which layer claims the turn: SERVICE → CONTEXT → OOD
extraction      what the person said, what is missing, what to ask
calling         plan, guards, the one HTTP client, outcomes
formatting      outcomes → sentences → tokens
indexing        endpoint → vectors; catalogues
retrieval       the vector engine, embeddings, ranking
sessions        the turn's and the chat's records, and the scripts that change them
registry        the endpoints, and the log that every process's index follows
eventlog        the turn's stream: read, follow
messages        every sentence we say, in three languages
runtime         settings, Redis, keys, clock, logs, telemetry
wiring          builds the clients once per process and hands them to Steps
"""
