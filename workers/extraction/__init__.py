"""Slot filling by rules, in English, Estonian and Russian. Pure: no I/O, and `now` comes in by the door.

loop           the public face: open a collection, take a message, ask, finish or give up
continuation   yes, no, unclear; cancel, start over, skip, "what do you know so far?"
slots          what is known, what was just said, what is still missing
questions      one question per turn for all that is missing (showing: parameters and values in words)
assigning      which endpoint and parameter each part of a message is for (assign_*: by the sort of value)
params         what a parameter is for, read from its name, format, labels and description
reading        one message, read once: what it holds, and what the person does not want
values_*       finds dates, numbers, names, codes and listed values (date_forms, calendar_*: the calendar's words)
wording, text  phrases of the catalogue; folding that keeps every character in its place
"""
