"""Guards: small checks on what a person sends and on what a model wrote. Pure; each says what it found, or nothing.

guard     what a guard is, and how several are asked
sources   what an answer may draw on, and its numbers
days      days of the year in a text
attacks   attempts to turn a model against its operator
length    messages too long to be a question
numbers   every number of an answer stands in its data
wording   which of English and Estonian an answer's own words are of
output    raw data, secrets, strange contacts and the wrong language in an answer
loading   guards by their names in the settings
"""
