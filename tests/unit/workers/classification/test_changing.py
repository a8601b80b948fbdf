"""A call that changes something is made only when it was clearly meant."""

from __future__ import annotations

import pytest

from schemas.endpoints import Endpoint
from tests.unit.workers.classification import twins
from workers.classification.matching import judge

GAP = 0.05
LOANS = Endpoint(
    endpoint_id="loans", name="get_loans", description="Books on a card.", titles={"en": "library loans"},
    url="https://api.example/loans",
)  # fmt: skip
RENEWAL = LOANS.model_copy(
    update={
        "endpoint_id": "renewal", "name": "renew_loans", "method": "POST", "titles": {"en": "library loan renewal"},
        "aliases": {"en": ("extend my loans", "keep the books longer")},
    }
)  # fmt: skip


@pytest.mark.parametrize(
    ("loans", "renewal", "is_high"),
    [(0.66, 0.675, False), (0.75, 0.764, True), (0.739, 0.797, True), (0.45, 0.55, False)],
)
@pytest.mark.parametrize("asked", ["Show my library loans, card number K1000", "library loans please"])
def test_what_names_no_change_is_only_read(loans: float, renewal: float, asked: str, *, is_high: bool) -> None:
    found = (twins.candidate(RENEWAL, renewal, high=is_high), twins.candidate(LOANS, loans))

    match = judge(asked, found, gap=GAP)

    assert match.winner is not None
    assert match.winner.endpoint is LOANS
    assert match.rule == "reads_rather_than_changes"


@pytest.mark.parametrize("is_high", [True, False])
def test_a_change_that_is_named_leads_by_little_and_is_made(*, is_high: bool) -> None:
    found = (twins.candidate(RENEWAL, 0.797, high=is_high), twins.candidate(LOANS, 0.739))

    assert judge("Extend my library loans", found, gap=GAP).best == found[0]


def test_a_change_that_is_named_or_far_ahead_is_made() -> None:
    far = (twins.candidate(RENEWAL, 0.84, high=True), twins.candidate(LOANS, 0.70))
    named = (twins.candidate(RENEWAL, 0.66), twins.candidate(LOANS, 0.65))

    assert judge("Renew my loans", far, gap=GAP).best == far[0]
    assert judge("Extend the loans on my card", named, gap=GAP).best == named[0]


def test_two_that_read_are_told_apart_by_the_person() -> None:
    other = LOANS.model_copy(update={"endpoint_id": "fines", "name": "get_fines", "titles": {"en": "fines"}})
    found = (twins.candidate(RENEWAL, 0.55), twins.candidate(LOANS, 0.55), twins.candidate(other, 0.55))

    assert judge("xyzzy", found, gap=GAP).rule == "too_close"
