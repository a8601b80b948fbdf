from __future__ import annotations

import hashlib

from workers.retrieval.sparse import sparse_vector, term_index, tokens


def test_tokens_are_lower_cased_unicode_words() -> None:
    assert tokens("Õhtul, 5 ПРАЗДНИКОВ snake_case!") == ["õhtul", "5", "праздников", "snake_case"]


def test_a_token_is_hashed_by_the_first_four_bytes_of_its_md5() -> None:
    assert term_index("holiday") == int(hashlib.md5(b"holiday", usedforsecurity=False).hexdigest()[:8], 16) % 50_000


def test_a_vector_counts_terms_and_is_sorted() -> None:
    vector = sparse_vector("tax Tax vehicle")

    assert vector.indices == tuple(sorted({term_index("tax"), term_index("vehicle")}))
    assert dict(zip(vector.indices, vector.values, strict=True))[term_index("tax")] == 2.0


def test_colliding_tokens_add_up() -> None:
    seen: dict[int, str] = {}
    for n in range(5_000):
        other = seen.setdefault(term_index(f"w{n}"), f"w{n}")
        if other != f"w{n}":
            assert sparse_vector(f"w{n} {other}").values == (2.0,)
            return
    raise AssertionError("no collision among 5,000 words in 50,000 places")


def test_an_empty_text_has_an_empty_vector() -> None:
    assert sparse_vector("… !").indices == ()
