"""Raw data, secrets, strange contacts and the wrong language in what a model wrote. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass

from workers.guarding.guard import Said
from workers.guarding.sources import CONTACT
from workers.guarding.wording import is_of_the_other
from workers.messages.secrets import REMOVED, SECRET

_RAW = re.compile(
    r"\[\[\s*##|##\s*\]\]|```|\"\s*:\s*[\[{\"\d]|^\s*[{\[]\s*\"|\{\s*\w+\s*\}|<\/?(?:div|span|script|html|body|table)\b"
)
_CARD = re.compile(r"(?<!\d)(?:\d[ -]?){13,19}(?!\d)")
_CYRILLIC = re.compile(r"[а-яё]", re.IGNORECASE)
_LATIN = re.compile(r"[a-zõäöüšž]", re.IGNORECASE)
_ENOUGH_LETTERS = 40
_FEW_LETTERS = 20


@dataclass(frozen=True)
class NoRawData:
    """Objects to JSON, mark-up, the marks of the model's answer form, and a name in braces that stands for a value."""

    name: str = "raw_data"

    def check(self, said: Said) -> str | None:
        """Return what is wrong, or None."""
        return "raw data or mark-up" if _RAW.search(said.text) else None


@dataclass(frozen=True)
class NoSecrets:
    """Objects to what looks like a key, a token or a password, also where the street door has taken it out."""

    name: str = "secrets"

    def check(self, said: Said) -> str | None:
        """Return what is wrong, or None."""
        return "a secret" if SECRET.search(said.text) or REMOVED in said.text else None


@dataclass(frozen=True)
class NoCards:
    """Objects to a payment card's number."""

    name: str = "cards"

    def check(self, said: Said) -> str | None:
        """Return what is wrong, or None."""
        return "a card number" if any(_is_card(found.group()) for found in _CARD.finditer(said.text)) else None


@dataclass(frozen=True)
class ContactsStandInTheData:
    """Objects to an e-mail address, a link or an account number that the sources do not hold."""

    name: str = "contacts"

    def check(self, said: Said) -> str | None:
        """Return what is wrong, or None."""
        rest = said.sources.without_contacts_of(said.text)
        return "a contact that the data does not hold" if CONTACT.search(rest) else None


@dataclass(frozen=True)
class RightLanguage:
    """Objects to an answer in another language than the chat's.

    The script tells Russian from the two others. Those are told apart by the answer's own words: what the sources hold
    (the data, the question) may be said in the language in which it stands there.
    """

    name: str = "language"

    def check(self, said: Said) -> str | None:
        """Return what is wrong, or None."""
        cyrillic, latin = len(_CYRILLIC.findall(said.text)), len(_LATIN.findall(said.text))
        right, wrong = (cyrillic, latin) if said.language == "ru" else (latin, cyrillic)
        # A text that is still short may begin with a name in the other script, but not with three words of it.
        is_other = wrong > right if right + wrong >= _ENOUGH_LETTERS else wrong >= _FEW_LETTERS and not right
        if not is_other and said.language != "ru":
            is_other = is_of_the_other(said.text, said.language, known=said.sources.words)
        return "another language" if is_other else None


def _is_card(written: str) -> bool:
    """Whether the digits pass the Luhn check (ISO/IEC 7812-1)."""
    digits = [int(char) for char in written if char.isdigit()]
    doubled = [digit * 2 - 9 * (digit > 4) for digit in digits[-2::-2]]  # noqa: PLR2004 - two digits from five on
    return (sum(digits[-1::-2]) + sum(doubled)) % 10 == 0 and len(set(digits)) > 1
