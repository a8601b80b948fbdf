"""OpenAPI 3.x and Swagger 2 → endpoints. Pure: text goes in, registrations and a report come out.

document    text → Document; follows `$ref`
beside      the texts of other files that a document refers to
schemas     JSON Schema → parameters: allOf, oneOf, anyOf, cycles, nullable types
parameters  path, query, header and cookie parameters, bodies and forms of one operation
servers     where an operation is served, and which secrets it asks for
importer    every operation: taken, changed, skipped or refused, and why
"""
