"""Follow-ups are told from new questions by rules alone, in three languages."""

from __future__ import annotations

from collections import Counter

import pytest

from schemas.endpoints import LANGUAGES
from tests.unit.workers.caching.followups import Case, cases, last_call, view_of
from workers.caching.contexts import FollowUp
from workers.caching.followup import judge

OVERALL, PER_LANGUAGE = 0.90, 0.85
HALVES = ("development", "holdout")


def _judged(case: Case) -> FollowUp:
    return judge(case.text, case.language, last_call(case.before, case.language), view_of(case.before))


@pytest.mark.parametrize("half", HALVES)
def test_nine_of_ten_messages_are_judged_as_people_mean_them(half: str) -> None:
    labelled = cases(half)
    confusion = Counter((case.language, case.verdict, _judged(case).verdict) for case in labelled)

    for (language, meant, judged), times in sorted(confusion.items()):
        print(f"{half} {language}: {meant} judged {judged}: {times}")
    right = Counter(dict.fromkeys(LANGUAGES, 0))
    for (language, meant, judged), times in confusion.items():
        right[language] += times * (meant == judged)
    sizes = Counter(case.language for case in labelled)
    shares = {language: right[language] / sizes[language] for language in LANGUAGES}
    print(half, {language: round(share, 3) for language, share in shares.items()})
    assert right.total() / len(labelled) >= OVERALL
    assert min(shares.values()) >= PER_LANGUAGE


@pytest.mark.parametrize("half", HALVES)
def test_the_changed_parameters_are_those_that_were_named(half: str) -> None:
    updates = [case for case in cases(half) if case.verdict == "param_update"]
    right = sum(_judged(case).changed.keys() == case.changed for case in updates)

    print(half, right, len(updates))
    assert right / len(updates) >= OVERALL


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_sets_are_large_enough_to_tell(language: str) -> None:
    own = [case for half in HALVES for case in cases(half) if case.language == language]

    assert len(own) >= 50
    assert len({case.before for case in own}) >= 6
    assert min(Counter(case.verdict for case in own).values()) >= 15
    assert len({case.text for case in own}) == len(own)
