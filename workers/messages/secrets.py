"""What looks like a key, a token or a password, and its removal from what people write. Pure.

The street door removes it before anything is kept; the guards know the mark that is left, and refuse the message.
"""

from __future__ import annotations

import re

REMOVED = "[secret removed]"
SECRET = re.compile(
    r"\b(?:sk|pk|rk)[-_](?:live|test|proj|ant)?[-_]?[A-Za-z0-9_-]{16,}"  # keys of OpenAI, Stripe, Anthropic
    r"|\bgh[pousr]_[A-Za-z0-9]{20,}|\bgithub_pat_\w{20,}|\bglpat-[\w-]{16,}|\bxox[abpr]-[\w-]{10,}"
    r"|\bAKIA[0-9A-Z]{16}\b|\bAIza[\w-]{30,}"
    r"|\beyJ[\w-]{10,}\.eyJ[\w-]{10,}\.[\w-]{5,}"  # a JSON web token
    r"|-----BEGIN [A-Z ]*PRIVATE KEY-----"
    r"|(?i:\b(?:authorization|bearer|api[-_ ]?key|password|parool|пароль|secret)\b\s*[:=]\s*\S{8,})"
)


def masked(text: str) -> str:
    """Return the text with every secret in it replaced by the mark."""
    return SECRET.sub(REMOVED, text)
