"""Messages that try to turn a model against its operator: to drop its rules, to tell secrets, to break in. Pure."""

from __future__ import annotations

import re
import tomllib
import unicodedata
from dataclasses import dataclass
from functools import cache
from importlib import resources

from workers.guarding.guard import Said

# Marks by which models tell turns and fields apart; people have no use for them.
_MARKS = re.compile(
    r"<\|[a-z_]{2,20}\|>|\[/?INST\]|<</?SYS>>|\[\[\s*##|^\s*(?:system|assistant)\s*:\s|^#{2,}\s*(?:system|instruction)",
    re.IGNORECASE | re.MULTILINE,
)
_WORD = re.compile(r"[^\W_]+")
_NEAR = 10
# (a first word, a word near after it, a word that must stand between or at either); see attacks.toml.
_PAIRS = (("drop", "rules", "own"), ("tell", "hidden", ""), ("breaking", "system", ""))


@dataclass(frozen=True)
class NoAttacks:
    """Objects to attempts at prompt injection in English, Estonian and Russian, whatever signs hide them."""

    name: str = "injection"

    def check(self, said: Said) -> str | None:
        """Return what is wrong, or None."""
        plain = "".join(c for c in unicodedata.normalize("NFKC", said.text) if unicodedata.category(c) != "Cf")
        if _MARKS.search(plain):
            return "marks of a model's dialogue"
        words = " ".join(_WORD.findall(plain.casefold().replace("ё", "е")))
        if _kind("posing").search(words):
            return "a new role for the model"
        return next((f"{first} … {second}" for first, second, own in _PAIRS if _holds(words, first, second, own)), None)


def _holds(words: str, first: str, second: str, between: str) -> bool:
    for found in _kind(first).finditer(words):
        near = " ".join(words[found.start() :].split(" ", _NEAR)[:_NEAR])
        for end in _kind(second).finditer(near):
            if not between or _kind(between).search(near, 0, end.end()):
                return True
    return False


@cache
def _kind(kind: str) -> re.Pattern[str]:
    """Match where a phrase of the kind begins. Each of its words stands for all that begin with it."""
    table = tomllib.loads((resources.files(__package__) / "attacks.toml").read_text(encoding="utf-8"))["words"]
    phrases = (r"\w* ".join(re.escape(part.replace("ё", "е")) for part in one.split("_")) for one in table[kind])
    return re.compile(rf"(?<!\w)(?:{'|'.join(phrases)})")
