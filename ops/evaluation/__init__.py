"""Plays labelled dialogues through the rules in this process, and scores what came of them."""
