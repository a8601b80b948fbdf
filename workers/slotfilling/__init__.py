"""Slot filling by rules, in English, Estonian and Russian. Pure: no I/O, and `now` comes in by the door.

loop           the public face: open a collection, take a message, ask, finish or give up
slots          what is known, what was just said, what is still missing
continuation   yes, no, unclear; cancel, start over, skip, "what do you know so far?"
questions      one question per turn for all that is missing, never worded the same twice in a row
assigning      which parameter a mention belongs to (dating, naming and wording are its parts)
params         what a parameter is for, read from its name, format, labels and description
mentions       finds what a message holds: dates, numbers, names, codes
values         reads one value for one parameter
"""
