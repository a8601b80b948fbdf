from __future__ import annotations

import pytest

from schemas.registry import Sparse
from workers.retrieval.lexical import FeatureCounts, content_words, document_vector, pieces, stem


def dot(a: Sparse, b: Sparse) -> float:
    theirs = dict(zip(b.indices, b.values, strict=True))
    return sum(value * theirs.get(place, 0.0) for place, value in zip(a.indices, a.values, strict=True))


DOCUMENTS = {
    "holidays": document_vector([("List the public holidays of a country", 1.0)]),
    "tax": document_vector([("Mootorsõiduki aastamaksu arvutamine", 1.0)]),
    "weather": document_vector([("Прогноз погоды для города", 1.0)]),
}


def counted() -> FeatureCounts:
    counts = FeatureCounts()
    for name, vector in DOCUMENTS.items():
        counts.put(name, vector)
    return counts


def test_stop_words_digits_and_letters_say_nothing() -> None:
    assert content_words("What are the taxes for 123ABC in 2026, и как б?") == ("taxes",)


def test_english_endings_are_taken_off_and_others_kept() -> None:
    assert [stem(w) for w in ("taxes", "cities", "parking", "maksude", "налогов")] == [
        "tax",
        "city",
        "park",
        "maksude",
        "налогов",
    ]


def test_pieces_mark_the_ends_of_a_word() -> None:
    assert {"_ma", "mak", "ks_", "_mak", "aks_", "_maks", "maks_"} <= pieces("maks")


def test_a_question_that_repeats_a_description_covers_nearly_all_of_it() -> None:
    query = counted().query_vector("public holidays of the country list")

    assert 0.6 < dot(query, DOCUMENTS["holidays"]) <= 1.0


def test_endings_of_estonian_and_russian_words_do_not_hide_them() -> None:
    assert dot(counted().query_vector("mootorsõidukite aastamaks"), DOCUMENTS["tax"]) > 0.25
    assert dot(counted().query_vector("какая погода в городе"), DOCUMENTS["weather"]) > 0.2


def test_where_words_cannot_match_the_lexical_side_is_silent() -> None:
    query = counted().query_vector("государственные праздники страны")

    assert all(dot(query, DOCUMENTS[name]) < 0.1 for name in ("holidays", "tax"))


def test_one_matching_word_is_weaker_evidence_than_several() -> None:
    counts = counted()

    assert dot(counts.query_vector("holidays"), DOCUMENTS["holidays"]) < 0.55
    assert dot(counts.query_vector("public holidays country list"), DOCUMENTS["holidays"]) > 0.6


def test_a_question_of_stop_words_has_no_vector() -> None:
    assert counted().query_vector("mis see on").indices == ()


def test_counts_forget_what_was_dropped_and_replaced() -> None:
    counts = counted()
    counts.put("tax", DOCUMENTS["holidays"])
    counts.drop("holidays")
    counts.drop("unknown")

    fresh = FeatureCounts()
    fresh.put("weather", DOCUMENTS["weather"])
    fresh.put("tax", DOCUMENTS["holidays"])

    assert counts.known() == {"tax", "weather"}
    assert counts.query_vector("public holidays") == fresh.query_vector("public holidays")


def value(*parts: tuple[str, float]) -> float:
    """Return the mean value of the features of "tax"."""
    vector = document_vector(parts)
    values = dict(zip(vector.indices, vector.values, strict=True))
    places = document_vector([("tax", 1.0)]).indices
    return sum(values[place] for place in places) / len(places)


def test_a_word_that_several_texts_say_weighs_more_but_less_each_time() -> None:
    once, twice, thrice = (value(*[("tax", 1.0)] * times) for times in (1, 2, 3))

    assert 0 < once < twice < thrice < 1
    assert twice - once > thrice - twice


def test_a_loud_text_weighs_more_than_a_quiet_one() -> None:
    assert value(("tax", 0.4), ("rain", 1.0)) < value(("tax", 1.0), ("rain", 0.4))


def test_a_word_of_a_long_text_weighs_less_than_one_of_a_short_text() -> None:
    assert value(("tax " + " ".join(f"w{letter}ord" for letter in "abcdefghijklmnop"), 1.0)) < value(("tax", 1.0))


@pytest.mark.parametrize("text", ["", "🎉", "שלום", "a" * 10_000], ids=["empty", "emoji", "hebrew", "long"])
def test_odd_texts_do_no_harm(text: str) -> None:
    vector = counted().query_vector(text)

    assert len(vector.indices) == len(set(vector.indices)) == len(vector.values)


def test_a_word_that_some_endpoint_has_is_not_heard_again_in_its_pieces() -> None:
    counts = FeatureCounts()
    farm, farmer = document_vector([("farm", 1.0)]), document_vector([("farmer", 1.0)])
    counts.put("farm", farm)
    before = dot(counts.query_vector("farmer"), farm)
    counts.put("farmer", farmer)
    query = counts.query_vector("farmer")

    assert dot(query, farm) < before / 2
    assert dot(query, farmer) > 2 * dot(query, farm)
