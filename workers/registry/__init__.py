"""The endpoints, and the log that every process's index follows. Light: the HTTP process uses this room too.

store    put, get, list, delete an endpoint; publish what search needs of it
log      follow the changes: snapshot, read on from a position, tell the others how far one has come
sources  scheduled sources: their list, their endpoints, their runs
"""
