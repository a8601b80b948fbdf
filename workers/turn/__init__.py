"""THE FLOW. `machine.py` says what comes next; `steps.py` does each stage; `answering.py` and `endings.py` close a turn;
`rest.py` ends what nobody moves.
"""
