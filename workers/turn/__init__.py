"""THE FLOW. `machine.py` says what comes next; `steps.py` does each stage; `rest.py` ends what nobody moves.

`answering.py` turns complete values into an answer, and `endings.py` ends a turn.
"""
