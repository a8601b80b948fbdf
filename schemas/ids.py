"""How each id is derived, so that any process can find a record from its id alone.

A turn id is `<chat key>-<random>`; the chat key is a digest of tenant and chat id. Records of one chat share the
shard named by the chat key's first digit, which is also the Redis hash tag of their keys.
"""

from __future__ import annotations

import hashlib
import re
import secrets
from typing import NewType

TurnId = NewType("TurnId", str)
ChatKey = NewType("ChatKey", str)
CallId = NewType("CallId", str)
EndpointId = NewType("EndpointId", str)

SHARDS = tuple("0123456789abcdef")
_TURN_ID = re.compile(r"[0-9a-f]{16}-[0-9a-f]{16}")


def chat_key(tenant: str, chat_id: str) -> ChatKey:
    """Derive the 16 hex digits that stand for one tenant's chat (no client string ever becomes a Redis key)."""
    digest = hashlib.sha256(f"{tenant}\0{chat_id}".encode()).hexdigest()
    return ChatKey(digest[:16])


def new_turn_id(chat: ChatKey) -> TurnId:
    """Mint an unguessable turn id that names its chat."""
    return TurnId(f"{chat}-{secrets.token_hex(8)}")


def is_turn_id(text: str) -> bool:
    """Whether the text has the form of a turn id; says nothing about whether that turn exists."""
    return _TURN_ID.fullmatch(text) is not None


def chat_of(turn: TurnId) -> ChatKey:
    """Return the chat key that a turn id carries."""
    return ChatKey(turn.partition("-")[0])


def shard_of(chat: ChatKey) -> str:
    """Return the shard (one hex digit) whose keys one Lua script may touch together."""
    return chat[0]


def call_id(turn: TurnId, index: int) -> CallId:
    """Derive the id of a turn's n-th API call; a redelivered task derives the same one."""
    return CallId(f"{turn}:{index}")
