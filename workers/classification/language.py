"""Which language a message is written in, and which one the chat speaks after it. Pure.

Cyrillic is Russian. Between English and Estonian the everyday words decide, since names carry foreign letters
("weather in Pärnu") and short turns carry none of their own; py3langid is asked only where those words are silent.
"""

from __future__ import annotations

from collections.abc import Sequence

from schemas.endpoints import Language
from workers.classification.vocabulary import vocabulary
from workers.classification.words import Word, is_entity, split_words
from workers.messages.identifying import likelihoods

DEFAULT: Language = "en"
_SENTENCE_WORDS = 3
_FOREIGN_WORDS = 3
_ESTONIAN_LETTERS = "õäöü"


def warm_up() -> None:
    """Load the word lists and the model now (about half a second), so that no turn waits for them. Blocks."""
    likelihoods("warm up")
    written("warm up")


def detect(text: str, *, previous: Language | None) -> Language:
    """Return the language to answer in.

    Without a previous language this is the best guess, English where nothing speaks for another. With one, short
    turns and bare names or values keep it; a whole sentence in another language is followed.
    """
    words = split_words(text)
    if _is_russian(words):
        return "ru"
    found = written(text)
    if previous is None:
        return found or DEFAULT
    if found is None or found == previous:
        return previous
    return found if _is_sentence(words, found) else previous


def written(text: str) -> Language | None:
    """Return the language of the words themselves; None for bare names, numbers and other languages."""
    words = split_words(text)
    if _is_russian(words):
        return "ru"
    english, estonian = _evidence(words, "en"), _evidence(words, "et")
    if english != estonian:
        return "en" if english > estonian else "et"
    return _identified(words, is_known=english > 0)


def _is_cyrillic(word: Word) -> bool:
    return any("\u0400" <= c <= "\u04ff" for c in word.text)


def _is_russian(words: Sequence[Word]) -> bool:
    """Whether the Cyrillic words carry the message; Latin codes and names ("курс EUR к SEK") do not count."""
    cyrillic = sum(map(_is_cyrillic, words))
    if not cyrillic:
        return False
    latin = sum(not _is_cyrillic(word) and not is_entity(word) for word in words)
    return cyrillic >= latin or _evidence(words, "en") + _evidence(words, "et") == 0


def _evidence(words: Sequence[Word], language: Language) -> int:
    """Count the everyday words that belong to this language and to no other."""
    own = vocabulary("language.words", language=language)
    other = vocabulary("language.words", language="et" if language == "en" else "en")
    is_shouted = all(word.text.isupper() for word in words)
    return sum(word.folded in own and word.folded not in other and (is_shouted or not _is_code(word)) for word in words)


def _is_code(word: Word) -> bool:
    return len(word.text) > 1 and word.text.isupper()


def _identified(words: Sequence[Word], *, is_known: bool) -> Language | None:
    """Ask the model about the words that are neither names nor values."""
    plain = [word.text for at, word in enumerate(words) if not is_entity(word) or (at == 0 and len(words) > 1)]
    plain = [word for word in plain if not any(c.isdigit() for c in word)]
    if not plain:
        return None
    scores = likelihoods(" ".join(plain).lower())
    if not is_known and len(plain) >= _FOREIGN_WORDS and next(iter(scores)) not in ("en", "et", "fi"):
        return None
    is_estonian = scores["et"] > scores["en"] or any(c in _ESTONIAN_LETTERS for word in plain for c in word)
    return "et" if is_estonian else "en"


def _is_sentence(words: Sequence[Word], language: Language) -> bool:
    """Whether the message is clearly a sentence of that language, not a name or a word of courtesy."""
    return len(words) >= _SENTENCE_WORDS and _evidence(words, language) > 1
