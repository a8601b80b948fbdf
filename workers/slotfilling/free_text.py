"""Values without a form: what is left of an answer, and proper names that stand out in a sentence."""

from __future__ import annotations

import re
from collections.abc import Sequence

from workers.slotfilling.control import control_of, is_filler
from workers.slotfilling.patterns import QUOTED
from workers.slotfilling.text import Found, fold, words_of

_LEAD = re.compile(
    r"^(?:(?:it is|it's|its|that's|this is|my \w+ is|the \w+ is|see on|minu \w+ on|mu \w+ on|nimi on|это|мой \w+|моя \w+|hmm|well|noh|ну)[\s,:]+)+",
    re.IGNORECASE,
)
_EDGES = " \t\n,.;:!?-–—\"'“”„«»()"
_JOINERS = re.compile(r"^(?:and|ja|ning|и|а)\b\s*|\s*\b(?:and|ja|ning|и)$", re.IGNORECASE)
_LONGEST_VALUE = 200


def free_text(text: str, spent: Sequence[Found]) -> str:
    """Return the unspent rest of an answer, or "" when it is a question, a filler or a control word."""
    if "?" in text or control_of(text) is not None:
        return ""
    rest = list(text)
    for part in spent:
        rest[part.start : part.end] = " " * (part.end - part.start)
    said = re.sub(r"\s+", " ", "".join(rest)).strip(_EDGES)
    said = _LEAD.sub("", said)
    said = _JOINERS.sub("", said.strip(_EDGES)).strip(_EDGES)
    return "" if is_filler(said) or len(said) > _LONGEST_VALUE else said


def find_proper_names(text: str, spent: Sequence[Found]) -> list[Found]:
    """Return quoted words, else runs of capitalised words that do not begin a sentence."""
    quoted = [Found(m.group(1).strip(), m.start(), m.end()) for m in QUOTED.finditer(text)]
    if quoted:
        return quoted
    runs: list[Found] = []
    for word in words_of(text):
        begins = not text[: word.start].strip() or text[: word.start].rstrip()[-1] in ".!?:"
        is_name = word.text[0].isupper() and not begins and fold(word.text) != "i"
        if not is_name or any(word.start < part.end and part.start < word.end for part in spent):
            continue
        if runs and text[runs[-1].end : word.start] == " ":
            before = runs.pop()
            runs.append(Found(text[before.start : word.end], before.start, word.end))
        else:
            runs.append(Found(word.text, word.start, word.end))
    return runs
