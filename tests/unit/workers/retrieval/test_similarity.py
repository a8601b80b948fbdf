from __future__ import annotations

import numpy as np

from schemas.endpoints import Endpoint, ParamSpec
from schemas.registry import Searchable
from workers.retrieval.recipe import pack
from workers.retrieval.similarity import alike

RANDOM = np.random.default_rng(7)
BASE = RANDOM.normal(size=64).astype(np.float32)


def searchable(name: str, vector: np.ndarray, **fields: object) -> Searchable:  # type: ignore[type-arg]
    told = {"url": f"https://x.ee/{name}", "description": f"Does {name}.", "tenant": "default"} | fields
    model = str(told.pop("model", "m.averaged.1"))
    endpoint = Endpoint.model_validate({"endpoint_id": name, "name": name, **told})
    unit = (vector / np.linalg.norm(vector)).astype(np.float32)
    return Searchable(endpoint=endpoint, model=model, fingerprint="f", dense=pack(unit))


def near(vector: np.ndarray) -> np.ndarray:  # type: ignore[type-arg]
    return vector + 0.05 * RANDOM.normal(size=64)


def test_a_pair_that_is_alike_is_found_once_and_strangers_are_not() -> None:
    strangers = [searchable(f"s{n}", RANDOM.normal(size=64)) for n in range(10)]

    found = alike([searchable("a", BASE), *strangers, searchable("b", near(BASE))], at_least=0.8)

    assert [(pair.first.name, pair.second.name) for pair in found] == [("a", "b")]
    assert found[0].cosine > 0.9


def test_what_all_endpoints_share_makes_none_of_them_alike() -> None:
    shared = [searchable(f"s{n}", 3 * BASE + RANDOM.normal(size=64)) for n in range(12)]

    assert alike(shared, at_least=0.8) == ()


def test_tenants_and_models_are_never_compared() -> None:
    mine = searchable("a", BASE)
    others = [searchable("b", BASE, tenant="acme"), searchable("c", BASE, model="other.seed.1")]

    assert alike([mine, *others], at_least=0.5) == ()


def test_the_most_alike_come_first_and_no_more_than_asked() -> None:
    three = [searchable("a", BASE), searchable("b", near(BASE)), searchable("c", BASE)]

    found = alike(three, at_least=0.5, limit=2)

    assert next((pair.first.name, pair.second.name) for pair in found) == ("a", "c")
    assert len(found) == 2


def test_the_advice_names_what_helps_most() -> None:
    day = (ParamSpec(name="day"),)
    cases = {
        "same_address": ({"url": "https://x.ee/same"}, {"url": "https://x.ee/same"}),
        "same_words": ({"description": "Same."}, {"description": "same. "}),
        "name_the_parameter": ({"params": day}, {}),
        "give_examples": ({"examples": {"en": ("Ask me",)}}, {}),
        "say_the_difference": ({"examples": {"en": ("Ask me",)}}, {"examples": {"en": ("Or me",)}}),
    }

    given = {
        advice: alike([searchable("a", BASE, **first), searchable("b", BASE, **second)], at_least=0.5)[0]
        for advice, (first, second) in cases.items()
    }

    assert {advice: pair.advice for advice, pair in given.items()} == {advice: advice for advice in cases}
    assert given["name_the_parameter"].only == ("day",)


def test_nothing_is_like_nothing() -> None:
    assert alike([], at_least=0.5) == ()
    assert alike([searchable("a", np.zeros(64) + 1e-9), searchable("b", BASE)], at_least=0.5) == ()
