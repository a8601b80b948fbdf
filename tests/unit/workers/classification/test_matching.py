from __future__ import annotations

from tests.unit.workers.classification import twins
from tests.unit.workers.classification.twins import HOLIDAYS, PRICES, SCHOOL, TAX
from workers.classification.matching import distinguish, judge, names

GAP = 0.05


def test_nothing_found_is_no_match() -> None:
    assert judge("x", (), gap=GAP).best is None


def test_confidence_belongs_to_the_endpoint_that_carries_it() -> None:
    found = (twins.candidate(HOLIDAYS, 0.60), twins.candidate(SCHOOL, 0.70, high=True))

    match = judge("x", found, gap=GAP)

    assert match.winner is not None
    assert match.winner.endpoint is SCHOOL


def test_a_lead_of_the_gap_wins() -> None:
    assert judge("x", (twins.candidate(TAX, 0.55), twins.candidate(PRICES, 0.49)), gap=GAP).rule == "clear_winner"


def test_close_scores_without_telling_words_have_no_winner() -> None:
    match = judge("x", (twins.candidate(TAX, 0.55), twins.candidate(PRICES, 0.53)), gap=GAP)

    assert match.winner is None
    assert [c.endpoint.endpoint_id for c in match.close] == ["tax", "prices"]


def test_order_by_the_fused_score_does_not_decide_against_the_cosine() -> None:
    fused_first = twins.candidate(PRICES, 0.45).model_copy(update={"fused": 0.9})

    assert judge("x", (fused_first, twins.candidate(TAX, 0.58)), gap=GAP).winner == twins.candidate(TAX, 0.58)


def test_inflected_words_tell_endpoints_apart() -> None:
    close = (twins.candidate(HOLIDAYS, 0.5), twins.candidate(SCHOOL, 0.5))

    chosen = distinguish("huvitavad koolivaheaegade kuupäevad", close)

    assert chosen is not None
    assert chosen.endpoint is SCHOOL


def test_words_that_all_share_tell_nothing() -> None:
    close = (twins.candidate(HOLIDAYS, 0.5), twins.candidate(SCHOOL, 0.5))

    assert distinguish("holidays", close) is None


def test_a_text_names_an_endpoint_by_a_word_of_its_title() -> None:
    assert names("elektrihind", PRICES)
    assert not names("raamat", PRICES)
