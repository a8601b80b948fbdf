"""The turn's and the chat's records. Both doors use this room: the shim admits and reads, the stages commit.

`turns.py` is the face; each Lua script in `scripts/` is one atomic step in the life of a turn:

    admit   record a turn, and give it the chat or a place in the chat's queue
    begin   a stage takes the turn up: claim it, enter its phase, count the attempt
    say     append provisional tokens, unless the turn has moved on
    commit  state, events and conversation together, fenced by version; an ended turn hands the chat on
    cancel  end a moving turn from outside

All keys a script touches share the chat's shard (see `runtime/keys.py`).
"""
