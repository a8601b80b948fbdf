"""Finds the phrases of a word list in what people type: any case form that the list allows, small typing errors too.

A list's entry is words with three marks: `a|b` is either word, `word?` may be left out, `word*` stands for every word
that begins so. Both sides are folded: lower case, no accents (ё is е, й is и).
"""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import product

from schemas.endpoints import LANGUAGES, Language
from workers.messages.catalog import phrases

_WORD = re.compile(r"[^\W_]+(?:['’][^\W\d_]+)?")
_APOSTROPHES = str.maketrans("", "", "'’`")
_CYRILLIC = re.compile(r"[а-яё]", re.IGNORECASE)
_RUSSIAN_VOWEL = re.compile(r"[аеиоуыэюяь]{1,2}$")
_RUSSIAN_ENDING = re.compile(r"[аеиоуыэюяь]{0,2}(?:м|х|ми|в|го|му)?")
_ESTONIAN_ENDING = re.compile(r"(?:[aeiou]|se)?(?:s|st|sse|le|l|lt|ni|ga|ta|ks|t|d|ja|de\w{0,3}|te\w{0,3})?")
_ENGLISH_ENDING = re.compile(r"s?")
_SHORTEST_STEM = 3
_SHORTEST_WITH_ERROR = 5
_SHORTEST_ALIKE = 4
_LONGEST_ENDING = 4


@dataclass(frozen=True, kw_only=True)
class Word:
    """One word of a text: as it was written, as it is compared, and where it stands."""

    text: str
    folded: str
    start: int
    end: int


def fold(text: str) -> str:
    """Lower the case and drop accents and apostrophes: "Lätis" → "latis", "What's" → "whats", "ещё" → "еще"."""
    bare = unicodedata.normalize("NFD", text.lower().translate(_APOSTROPHES))
    return "".join(char for char in bare if not unicodedata.combining(char))


def words_of(text: str) -> tuple[Word, ...]:
    """Cut a text (composed, NFC) into words; everything else separates them."""
    return tuple(
        Word(text=m.group(), folded=fold(m.group()), start=m.start(), end=m.end()) for m in _WORD.finditer(text)
    )


def is_near(word: str, meant: str) -> bool:
    """Whether a folded word is the other with one letter changed, missing, added, or swapped with its neighbour."""
    if abs(len(word) - len(meant)) > 1 or word == meant:
        return word == meant
    i = next((i for i, (a, b) in enumerate(zip(word, meant, strict=False)) if a != b), min(len(word), len(meant)))
    swapped = word[i : i + 2] == meant[i : i + 2][::-1] and word[i + 2 :] == meant[i + 2 :]
    return swapped or word[i + 1 :] == meant[i + 1 :] or word[i:] == meant[i + 1 :] or word[i + 1 :] == meant[i:]


def is_form_of(word: str, base: str, language: Language, *, errors: bool = False) -> bool:
    """Whether a folded word is the base or a case form of it in that language; with `errors`, a misspelt base too."""
    if word == base:
        return True
    if errors and len(base) >= _SHORTEST_WITH_ERROR and word[:1] == base[:1] and is_near(word, base):
        return True
    stem = _RUSSIAN_VOWEL.sub("", base) if language == "ru" else base
    ending = {"ru": _RUSSIAN_ENDING, "et": _ESTONIAN_ENDING, "en": _ENGLISH_ENDING}[language]
    is_long = len(stem) >= _SHORTEST_STEM
    return is_long and word.startswith(stem) and ending.fullmatch(word[len(stem) :]) is not None


def same_stem(word: str, other: str) -> bool:
    """Whether two folded words are forms of one: alike but for an ending of up to four letters on either."""
    if word == other:
        return True
    shorter = min(len(word), len(other))
    shared = next((i for i in range(shorter) if word[i] != other[i]), shorter)
    return shared >= max(_SHORTEST_ALIKE, shorter - 2) and max(len(word), len(other)) - shared <= _LONGEST_ENDING


_Sequence = tuple[str, ...]
_NOWHERE: frozenset[int] = frozenset()


@dataclass(frozen=True)
class Lexicon:
    """Phrases of one or more lists, found by the first letter of their first word. A phrase may stand for a name."""

    by_opening: dict[str, tuple[tuple[_Sequence, str], ...]]

    def match(self, words: Sequence[Word], at: int, *, errors: Container[int] = _NOWHERE) -> int:
        """Return where the longest phrase that starts at `at` ends; `at` itself when none does.

        `errors` are the places of words that may be misspelt.
        """
        return max(self.names(words, at, errors=errors).values(), default=at)

    def names(self, words: Sequence[Word], at: int, *, errors: Container[int] = _NOWHERE) -> dict[str, int]:
        """Return the names whose phrases start at `at`, each with where its longest one ends."""
        found: dict[str, int] = {}
        for phrase, name in self.by_opening.get(words[at].folded[:1], ()):
            end = at + len(phrase)
            if end > found.get(name, at) and _stands(phrase, words, at, errors):
                found[name] = end
        return found

    def __contains__(self, word: object) -> bool:
        if not isinstance(word, str):
            return False
        return any(len(phrase) == 1 and _is(word, phrase[0]) for phrase, _ in self.by_opening.get(word[:1], ()))

    def is_misspelt_in(self, word: str) -> bool:
        """Whether a folded word is one letter away from a one-word phrase with the same first letter."""
        near = (phrase for phrase, _ in self.by_opening.get(word[:1], ()) if len(phrase) == 1)
        return any(is_near(word, phrase[0]) for phrase in near)


def _is(word: str, asked: str, *, errors: bool = False) -> bool:
    if word == asked or (asked[-1] == "*" and word.startswith(asked[:-1])):
        return True
    return errors and len(asked) >= _SHORTEST_WITH_ERROR and asked[-1] != "*" and is_near(word, asked)


def _stands(phrase: _Sequence, words: Sequence[Word], at: int, errors: Container[int]) -> bool:
    if at + len(phrase) > len(words):
        return False
    for place, asked in enumerate(phrase, start=at):  # noqa: SIM110 — a loop is twice as fast, and this one is hot
        if not _is(words[place].folded, asked, errors=place in errors):
            return False
    return True


def _expanded(entry: str) -> Iterator[_Sequence]:
    """Yield what an entry such as "what|how about", "kõige? pikem*" stands for, folded."""
    slots = [
        [*(fold(word) for word in token.removesuffix("?").split("|")), *([""] if token.endswith("?") else [])]
        for token in entry.split()
    ]
    for chosen in product(*slots):
        sequence = tuple(word for word in chosen if word)
        if sequence:
            yield sequence


def _compiled(entries: Iterable[tuple[str, str]]) -> Lexicon:
    found: dict[str, dict[tuple[_Sequence, str], None]] = defaultdict(dict)
    for name, entry in entries:
        for sequence in _expanded(entry):
            found[sequence[0][:1]][sequence, name] = None
    return Lexicon({opening: tuple(phrases) for opening, phrases in found.items()})


@cache
def lexicon(key: str, language: Language) -> Lexicon:
    """Compile the list under a key of the catalogue."""
    return _compiled(("", entry) for entry in phrases(key, language))


@cache
def named_lexicon(key: str, language: Language) -> Lexicon:
    """Compile a list of "name: phrase | phrase" lines."""
    lines = (line.partition(": ") for line in phrases(key, language))
    return _compiled((name, entry) for name, _, said in lines for entry in said.split(" | "))


@lru_cache(maxsize=4096)
def folded_words(written: str) -> tuple[str, ...]:
    """Return the folded words of a label or a name; kept, since the same ones are compared at every message."""
    return tuple(word.folded for word in words_of(written))


def is_said(words: str, text: str) -> bool:
    """Whether those words stand in the text, one after the other, whatever their case and accents."""
    sought, said = folded_words(unicodedata.normalize("NFC", words)), words_of(unicodedata.normalize("NFC", text))
    folded = tuple(word.folded for word in said)
    return bool(sought) and any(folded[at : at + len(sought)] == sought for at in range(len(folded)))


def spoken_language(words: Sequence[Word], preferred: Language, *keys: str) -> Language:
    """Tell which language the words are of: Cyrillic is Russian; otherwise the one whose lists hold most of them.

    The preferred language, then English, wins a draw.
    """
    if any(_CYRILLIC.search(word.text) for word in words):
        return "ru"
    latin: list[Language] = [language for language in LANGUAGES if language != "ru"]
    latin.sort(key=lambda language: language != preferred)
    return max(latin, key=lambda language: sum(any(w.folded in lexicon(k, language) for k in keys) for w in words))
