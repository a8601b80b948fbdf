"""Reads the shape of a message: does it ask for something, is it a bare value, what is it about. Pure."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from schemas.endpoints import Language
from workers.classification.vocabulary import Phrases, stems, vocabulary
from workers.classification.words import Word, is_entity, split_words

_FEW_WORDS = 2
_SENTENCE = re.compile(r"[^.?!]+[.?!]*")
_CLAUSE = re.compile(r"[.?!;,:\n]+(?:\s|$)|\s(?:and|but|so|ja|aga|ning|и|а|но)\s")
_OUTRIGHT = ("request.questions", "request.verbs")


def opener_end(words: Sequence[str], at: int, language: Language) -> int:
    """Return where the opening of a request ends ("could you please show me"); `at` when nothing opens there.

    `words` are folded. An opening is a wish ("I need"), a question word or a request verb, each with its fillers.
    """
    fillers = vocabulary("request.fillers", language=language)
    start = _skip(fillers, words, at)
    wish = vocabulary("request.modals", language=language).match(words, start)
    if wish > start:
        start_of_verb = _skip(fillers, words, wish)
        verb = vocabulary("request.verbs", language=language).match(words, start_of_verb)
        return _skip(fillers, words, max(verb, wish))
    for key in _OUTRIGHT:
        end = vocabulary(key, language=language).match(words, start)
        if end > start:
            return _skip(fillers, words, end)
    return at


def opens_outright(words: Sequence[str], language: Language) -> bool:
    """Whether the folded words open with a request verb or a question word, a wish before it or not."""
    fillers = vocabulary("request.fillers", language=language)
    start = _skip(fillers, words, 0)
    start = _skip(fillers, words, vocabulary("request.modals", language=language).match(words, start))
    return any(vocabulary(key, language=language).match(words, start) > start for key in _OUTRIGHT)


def opens_request(text: str, language: Language) -> bool:
    """Whether the text asks for something: it opens like a request or question, or ends as a question."""
    words = [word.folded for word in split_words(text)]
    if not words:
        return False
    start = vocabulary("hear.greeting", "hear.thanks").match(words, 0)
    is_question = text.rstrip().endswith("?") and len(words) > _FEW_WORDS
    return is_question or opener_end(words, start, language) > start


def asks_somewhere(text: str, language: Language) -> bool:
    """Whether some clause of the text opens like a request, after what leads into it: "great, now find me a hotel"."""
    return opens_request(text, language) or any(_asking(text, language))


def asks_outright(text: str, language: Language) -> bool:
    """Whether all that the text asks is a question by a question word: "yes. What is its address?"."""
    questions = vocabulary("request.questions", language=language)
    openings = [words for _, words in _asking(text, language)]
    return bool(openings) and all(questions.match(words, 0) for words in openings)


def asked_part(text: str, language: Language) -> str:
    """Return the text from its first clause that opens like a request; all of it when none does, or the first."""
    start = next((at for at, _ in _asking(text, language)), 0)
    return text[start:]


def sentences(text: str) -> list[str]:
    """Cut a text after full stops, question marks and exclamation marks."""
    return [part.strip() for part in _SENTENCE.findall(text) if part.strip()]


def _asking(text: str, language: Language) -> list[tuple[int, tuple[str, ...]]]:
    """Return where each clause that opens like a request does so, and its folded words, without what leads into it."""
    found: list[tuple[int, tuple[str, ...]]] = []
    text = unicodedata.normalize("NFC", text)
    lead = vocabulary("hear.agreed", "hear.declined", "hear.thanks", "hear.compliment", "hear.polite", "hear.fillers")
    ends = [(match.start(), match.end()) for match in _CLAUSE.finditer(text)]
    for begin, end in zip([0, *(end for _, end in ends)], [*(start for start, _ in ends), len(text)], strict=True):
        cut = split_words(text[begin:end])
        words = tuple(word.folded for word in cut)
        start = _skip(lead, words, 0)
        if start < len(words) and opener_end(words, start, language) > start:
            found.append((begin + cut[start].start, words[start:]))
    return found


def content(words: Sequence[Word], language: Language) -> list[Word]:
    """Return the words that say what a request is about: no opener, small words, pronouns, names, dates or values."""
    start = opener_end([word.folded for word in words], 0, language)
    small = vocabulary(
        "request.function_words",
        "request.fillers",
        "request.pronouns",
        "request.nouns_without_object",
        "request.verbs",
        "value.words",
        language=language,
    )
    return [
        word
        for word in words[start:]
        if word.folded not in small and not _is_named(word) and not _is_date_word(word, language)
    ]


def is_about_something(text: str, language: Language) -> bool:
    """Whether a part of a message can be searched by itself: it names a thing, and does not lean on a pronoun."""
    words = split_words(text)
    named = content(words, language)
    leans = any(word.folded in vocabulary("request.pronouns", language=language) for word in words)
    return len(named) > (1 if leans else 0)


def is_bare_value(text: str, language: Language) -> bool:
    """Whether a reply only gives values: "123ABC", "EE", "2026-01-01 to 2026-12-31", "Viru tn 4, Tallinn"."""
    words = split_words(text)
    start = opener_end([word.folded for word in words], 0, language)
    return all(_is_value(word, language) or _is_named(word) for word in words[start:])


def _is_value(word: Word, language: Language) -> bool:
    return word.folded in vocabulary("value.words", language=language) or _is_date_word(word, language)


def _is_date_word(word: Word, language: Language) -> bool:
    return word.folded.startswith(stems("value.stems", language))


def _is_named(word: Word) -> bool:
    """Whether a word is a name, a country code or a number. A longer abbreviation (GDP, SKP) is a thing."""
    is_abbreviation = word.text.isalpha() and word.text.isupper() and len(word.text) > _FEW_WORDS
    return is_entity(word) and not is_abbreviation


def _skip(fillers: Phrases, words: Sequence[str], at: int) -> int:
    while (end := fillers.match(words, at)) > at:
        at = end
    return at
