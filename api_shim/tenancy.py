"""Whose request this is, and which conversation it belongs to."""

from __future__ import annotations

from starlette.types import Scope

from schemas.ids import ChatKey, chat_key


def tenant_of(_scope: Scope) -> str:
    """Name the tenant that sent the request. Every route asks here; there is one tenant until there are API keys."""
    return "default"


def conversation_key(tenant: str, *, chat_id: str, author_id: str) -> ChatKey:
    """Derive the key of a conversation; it belongs to the chat and its author.

    A second author who knows the chat id gets a conversation of their own, never the first one's half-filled form.
    NUL, which no id may hold, keeps ("a", "bc") and ("ab", "c") apart.
    """
    return chat_key(tenant, f"{chat_id}\0{author_id}" if author_id else chat_id)
