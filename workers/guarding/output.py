"""Raw data, secrets and the wrong language in what a model wrote. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass

from workers.guarding.guard import Said

_RAW = re.compile(
    r"\[\[\s*##|##\s*\]\]|```|\"\s*:\s*[\[{\"\d]|^\s*[{\[]\s*\"|<\/?(?:div|span|script|html|body|table)\b"
)
SECRET = re.compile(
    r"\b(?:sk|pk|rk)[-_](?:live|test|proj|ant)?[-_]?[A-Za-z0-9_-]{16,}"  # keys of OpenAI, Stripe, Anthropic
    r"|\bgh[pousr]_[A-Za-z0-9]{20,}|\bgithub_pat_\w{20,}|\bglpat-[\w-]{16,}|\bxox[abpr]-[\w-]{10,}"
    r"|\bAKIA[0-9A-Z]{16}\b|\bAIza[\w-]{30,}"
    r"|\beyJ[\w-]{10,}\.eyJ[\w-]{10,}\.[\w-]{5,}"  # a JSON web token
    r"|-----BEGIN [A-Z ]*PRIVATE KEY-----"
    r"|(?i:\b(?:authorization|bearer|api[-_ ]?key|password|parool|пароль|secret)\b\s*[:=]\s*\S{8,})"
)
_CARD = re.compile(r"(?<!\d)(?:\d[ -]?){13,19}(?!\d)")
_CYRILLIC = re.compile(r"[а-яё]", re.IGNORECASE)
_LATIN = re.compile(r"[a-zõäöüšž]", re.IGNORECASE)
_ENOUGH_LETTERS = 40


@dataclass(frozen=True)
class NoRawData:
    """Objects to JSON, mark-up, and the marks of the model's answer form."""

    name: str = "raw_data"

    def check(self, said: Said) -> str | None:
        """Return what is wrong, or None."""
        return "raw data or mark-up" if _RAW.search(said.text) else None


@dataclass(frozen=True)
class NoSecrets:
    """Objects to what looks like a key, a token, a password or a payment card's number."""

    name: str = "secrets"

    def check(self, said: Said) -> str | None:
        """Return what is wrong, or None."""
        if SECRET.search(said.text):
            return "a secret"
        return "a card number" if any(_is_card(found.group()) for found in _CARD.finditer(said.text)) else None


@dataclass(frozen=True)
class RightLanguage:
    """Objects to an answer in the other script: a Russian one in Latin letters, another one in Cyrillic.

    Estonian and English are not told apart here: names and titles mix them too much in short answers.
    """

    name: str = "language"

    def check(self, said: Said) -> str | None:
        """Return what is wrong, or None."""
        cyrillic, latin = len(_CYRILLIC.findall(said.text)), len(_LATIN.findall(said.text))
        if cyrillic + latin < _ENOUGH_LETTERS:
            return None
        is_cyrillic = cyrillic > latin
        return "another language" if is_cyrillic != (said.language == "ru") else None


def _is_card(written: str) -> bool:
    """Whether the digits pass the Luhn check (ISO/IEC 7812-1)."""
    digits = [int(char) for char in written if char.isdigit()]
    doubled = [digit * 2 - 9 * (digit > 4) for digit in digits[-2::-2]]  # noqa: PLR2004 - two digits from five on
    return (sum(digits[-1::-2]) + sum(doubled)) % 10 == 0 and len(set(digits)) > 1
