"""Which language a text is likely written in, by py3langid, which is loaded when first asked (half a second)."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from py3langid.langid import LanguageIdentifier


@cache
def _identifier() -> LanguageIdentifier:
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)


def likelihoods(text: str) -> Mapping[str, float]:
    """Return the likelihood of each language (ISO 639-1 codes, their sum is 1), the likeliest first."""
    return dict(_identifier().rank(text))
