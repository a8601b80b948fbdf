from __future__ import annotations

from typing import Any

import pytest

from schemas.calls import ApiCall, Cached, CallFailed, CallOutcome, CallSucceeded, FailureReason
from schemas.endpoints import Endpoint
from workers.caching.freshness import fresh_for_s, keeping, kept_for_s, stale_for_s


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ({}, None),
        ({"cache-control": "no-store"}, 0.0),
        ({"cache-control": "No-Cache, max-age=60"}, 0.0),
        ({"cache-control": "private, max-age=60"}, 0.0),
        ({"cache-control": "public, max-age=60"}, 60.0),
        ({"cache-control": "max-age=60, s-maxage=5"}, 5.0),
        ({"cache-control": 'max-age="60"'}, 60.0),
        ({"cache-control": "max-age=60", "age": "45"}, 15.0),
        ({"cache-control": "max-age=60", "age": "90"}, 0.0),
        ({"cache-control": "max-age=soon"}, 0.0),
        ({"cache-control": "max-age=-5"}, 0.0),
        ({"cache-control": "max-age=²"}, 0.0),
        ({"cache-control": "public"}, None),
        ({"pragma": "no-cache"}, 0.0),
        ({"vary": "*"}, 0.0),
        ({"vary": "Accept-Encoding"}, None),
    ],
)
def test_what_headers_allow(headers: dict[str, str], expected: float | None) -> None:
    assert fresh_for_s(headers) == expected


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("max-age=60, stale-while-revalidate=30", 30.0),
        ("max-age=60", 0.0),
        ("max-age=60, stale-while-revalidate=30, must-revalidate", 0.0),
        ("s-maxage=60, stale-while-revalidate=30", 0.0),
        ("no-cache, stale-while-revalidate=30", 0.0),
        ("max-age=60, stale-while-revalidate=long", 0.0),
    ],
)
def test_what_headers_allow_past_the_end(said: str, expected: float) -> None:
    assert stale_for_s({"cache-control": said}) == expected


def test_a_renewal_begins_before_the_end_and_jitter_only_takes_off() -> None:
    plain = keeping(100, ok(), grace_s=5, jitter=0.1, chance=0)
    assert (plain.kept_s, plain.renewed_after_s) == (100, 95)
    spread = keeping(100, ok(), grace_s=5, jitter=0.1, chance=1)
    assert (spread.kept_s, spread.renewed_after_s) == (90, 85)
    short = keeping(10, ok(), grace_s=5, jitter=0, chance=0)
    assert (short.kept_s, short.renewed_after_s) == (10, 9)
    allowed = keeping(100, ok(stale_for_s=60), grace_s=5, jitter=0, chance=0)
    assert (allowed.kept_s, allowed.renewed_after_s) == (105, 100)
    none = keeping(0, ok(), grace_s=5, jitter=0.1, chance=0.5)
    assert (none.kept_s, none.renewed_after_s) == (0, 0)


def kept(outcome: CallOutcome, **endpoint: Any) -> float:
    given = {"endpoint_id": "e", "name": "n", "description": "d", "url": "https://a.ee"} | endpoint
    return kept_for_s(ApiCall(call_id="c", index=0, endpoint=Endpoint(**given)), outcome, default_s=1_800)


def ok(**more: Any) -> CallSucceeded:
    return CallSucceeded(**({"call_id": "c", "status": 200, "body": {"a": 1}} | more))


def test_the_shortest_limit_counts() -> None:
    assert kept(ok()) == 1_800
    assert kept(ok(), cache_ttl_seconds=60) == 60
    assert kept(ok(fresh_for_s=10), cache_ttl_seconds=60) == 10
    assert kept(ok(fresh_for_s=9_000)) == 1_800


@pytest.mark.parametrize(
    "outcome",
    [
        CallFailed(call_id="c", reason=FailureReason.SERVER_ERROR, status=500),
        CallFailed(call_id="c", reason=FailureReason.CLIENT_ERROR, status=404, body={"error": "no"}),
        CallFailed(call_id="c", reason=FailureReason.TOO_LARGE, status=200),
        CallFailed(call_id="c", reason=FailureReason.UNREACHABLE),
        ok(status=206),
        ok(status=202),
        ok(status=204, body=None),
        ok(fresh_for_s=0),
        ok(cached=Cached(source="L1")),
    ],
    ids=["500", "404", "cut off", "broke off", "partial", "accepted", "empty", "no-store", "itself from a cache"],
)
def test_these_are_never_kept(outcome: CallOutcome) -> None:
    assert kept(outcome) == 0


def test_a_post_is_kept_only_where_it_says_so() -> None:
    assert kept(ok(), method="POST") == 0
    assert kept(ok(), method="POST", cacheable=True) == 1_800
    assert kept(ok(), cacheable=False) == 0
