"""Enumerations and yes-or-no parameters: labels, synonyms, inflected forms, small typos."""

from __future__ import annotations

from difflib import SequenceMatcher

from schemas.endpoints import EnumOption, ParamSpec
from workers.slotfilling.control import Control, control_of
from workers.slotfilling.slot import Slot
from workers.slotfilling.text import Found, Word, fold, is_negated, words_of

_SHORTEST_STEM = 4
_LONGEST_CODE = 2
_INFLECTION = 4
_ALIKE = 0.84
_SHORTEST_TYPO = 5


def find_options(text: str, param: ParamSpec, *, is_asked: bool) -> list[Found]:
    """Return the options that the text names; typos count only where the parameter was asked for."""
    words = words_of(text)
    found = []
    for option in param.enum:
        for form in _forms(option):
            wanted = form.split()
            for at in range(len(words) - len(wanted) + 1):
                stretch = words[at : at + len(wanted)]
                if all(_is_form(word, want, is_asked) for word, want in zip(stretch, wanted, strict=True)):
                    found.append(Found(option.value, stretch[0].start, stretch[-1].end))
    return [one for one in found if not is_negated(text, one.start)]


def _forms(option: EnumOption) -> set[str]:
    forms = {fold(text) for text in (option.value, *option.labels.values(), *option.synonyms)}
    return {form for form in (form.replace("_", " ").strip() for form in forms) if form}


def _is_form(word: Word, want: str, is_asked: bool) -> bool:  # noqa: FBT001 — reads as a question's last word
    if word.folded == want:
        # "no" is a word before it is Norway: a short code counts when it is written as one, or was asked for.
        return len(want) > _LONGEST_CODE or word.text.isupper() or is_asked
    stem = want[:-1] if want[-1] in "aeiouyаяоеиыь" else want
    if len(stem) >= _SHORTEST_STEM and word.folded.startswith(stem) and len(word.folded) <= len(want) + _INFLECTION:
        return True
    return is_asked and len(want) >= _SHORTEST_TYPO and SequenceMatcher(None, word.folded, want).ratio() >= _ALIKE


def read_boolean(text: str, slot: Slot, *, is_only: bool) -> bool | None:
    """Return what a yes or no means for this slot; only where it alone was asked for, or its label stands there."""
    folded = fold(text)
    if is_only:
        control = control_of(text)
        return {Control.YES: True, Control.NO: False}.get(control) if control else None
    labels = [fold(label) for label in slot.param.labels.values() if len(label) >= _SHORTEST_STEM]
    at = next((folded.find(label) for label in labels if label in folded), -1)
    if at < 0:
        return None
    return not any(folded[max(0, at - 10) : at].rstrip().endswith(no) for no in ("without", "no", "ilma", "без", "не"))
