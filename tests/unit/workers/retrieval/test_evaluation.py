from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from workers.retrieval.bm25 import Bm25
from workers.retrieval.embedder import LetterEmbedder
from workers.retrieval.evaluation import WAYS, Material, compare, evaluate
from workers.retrieval.figures import Answered, area_under_curve, figures
from workers.retrieval.questions import Case, read_cases, read_examples, read_registry


def answered(expected: str, ranked: str, *, score: float = 0.7, offered: str | None = None) -> Answered:
    case = Case(language="en", question="q", expected=frozenset(expected), candidates=frozenset())
    return Answered(
        case=case, ranked=tuple(ranked), best_score=score, offered=tuple(ranked[:1] if offered is None else offered)
    )


def test_the_figures_of_a_hand_counted_set() -> None:
    found = figures(
        [
            answered("a", "abc"),
            answered("a", "bac", offered="bac"),
            answered("a", "bcda", score=0.3, offered=""),
            answered("a", "bcad", offered="b"),
            answered("", "a", score=0.5, offered="a"),
            answered("", "a", score=0.1, offered=""),
        ]
    )

    assert (found.n, found.n_out_of_domain) == (6, 2)
    assert (found.top1, found.top3) == (0.25, 0.75)
    assert (found.resolved, found.in_domain_refused, found.out_of_domain_answered) == (0.5, 0.25, 0.5)
    assert found.auc == pytest.approx(7 / 8)


def test_shares_of_nothing_are_absent() -> None:
    found = figures([answered("a", "a")])

    assert found.auc is None
    assert found.out_of_domain_answered is None


@pytest.mark.parametrize(
    ("inside", "outside", "area"),
    [((2.0, 3.0), (1.0,), 1.0), ((1.0,), (2.0,), 0.0), ((1.0,), (1.0,), 0.5), ((), (1.0,), None)],
    ids=["apart", "wrong way", "tied", "empty"],
)
def test_area_under_curve(inside: tuple[float, ...], outside: tuple[float, ...], area: float | None) -> None:
    assert area_under_curve(inside, outside) == area


REGISTRY: list[dict[str, Any]] = [
    {
        "id": name,
        "name": name,
        "description": text,
        "description_et": translated,
        "url": "no url / at all",
        "method": "TRACE",
        "params": [{"name": "p", "type": "any", "required": False, "description": None, "enum": [1, None]}],
    }
    for name, text, translated in (
        ("weather", "weather forecast for a town", "linna ilmaprognoos"),
        ("tax", "yearly motor vehicle tax", "mootorsõiduki aastamaks"),
    )
]


def case(question: str, *expected: str, lang: str = "en", **more: Any) -> str:
    return json.dumps(
        {"id": question, "lang": lang, "turns": [{"user": question, "expect": {"endpoints": expected}}], **more}
    )


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    registry, cases = tmp_path / "registry.json", tmp_path / "cases.jsonl"
    registry.write_text(json.dumps(REGISTRY), encoding="utf-8")
    lines = [
        case("weather forecast for my town", "weather"),
        case("mootorsõiduki maks", "tax", lang="et"),
        case("weather forecast", "tax", scope="candidates", candidates=["tax"]),
        case("poem about love"),
        case("both", "tax", "weather"),
    ]
    cases.write_text("\n".join(lines) + "\n\n", encoding="utf-8")
    return registry, cases


def test_cases_that_expect_several_endpoints_are_left_out(files: tuple[Path, Path]) -> None:
    assert len(read_cases(files[1])) == 4


def test_a_description_field_describes_alone(files: tuple[Path, Path]) -> None:
    both = read_registry(files[0])[0]
    alone = read_registry(files[0], description_field="description_et")[0]

    assert (both.description, both.descriptions) == ("weather forecast for a town", {"et": "linna ilmaprognoos"})
    assert (alone.description, alone.descriptions) == ("linna ilmaprognoos", {})


def test_examples_are_read_in_both_shapes(tmp_path: Path) -> None:
    mapped, paired = tmp_path / "a.json", tmp_path / "b.json"
    mapped.write_text('{"tax": ["how much tax"]}', encoding="utf-8")
    paired.write_text('[["how much tax", "tax"]]', encoding="utf-8")

    assert read_examples(mapped) == read_examples(paired) == {"tax": ["how much tax"]}


async def test_a_set_is_evaluated_from_its_files(files: tuple[Path, Path]) -> None:
    report = await evaluate(Material(registry=files[0], cases=files[1]), embedder=LetterEmbedder())

    assert report.endpoints == 2
    assert report.overall.top1 == 1.0
    assert set(report.languages) == {"en", "et"}
    assert report.overall.out_of_domain_answered == 0.0


async def test_the_json_has_the_figures_and_nothing_else(files: tuple[Path, Path]) -> None:
    report = await evaluate(Material(registry=files[0], cases=files[1]), embedder=LetterEmbedder())
    names = {"n", "top1", "top3", "resolved", "auc", "in_domain_refused", "out_of_domain_answered"}

    written = report.model_dump(mode="json")

    assert set(written) == {"overall", "languages"}
    assert set(written["overall"]) == set(written["languages"]["et"]) == names


async def test_a_candidate_case_is_chosen_among_its_candidates_unless_all_are_asked(files: tuple[Path, Path]) -> None:
    files[1].write_text(case("weather forecast", "tax", scope="candidates", candidates=["tax"]), encoding="utf-8")
    among = Material(registry=files[0], cases=files[1])

    narrow = await evaluate(among, embedder=LetterEmbedder())
    wide = await evaluate(replace(among, whole=True), embedder=LetterEmbedder())

    assert (narrow.overall.top1, wide.overall.top1) == (1.0, 0.0)


async def test_every_way_is_measured_on_the_same_questions(files: tuple[Path, Path], tmp_path: Path) -> None:
    examples = tmp_path / "examples.json"
    examples.write_text('{"tax": ["how much do I owe for my van"]}', encoding="utf-8")
    with files[1].open("a", encoding="utf-8") as more:
        more.write(case("what do I owe for a van", "tax"))
    material = Material(registry=files[0], cases=files[1], examples=examples)

    found = (await compare(material, embedder=LetterEmbedder())).ways

    assert list(found) == [*WAYS, "hybrid + examples"]
    assert {report.overall.n for report in found.values()} == {5}
    assert (found["words"].overall.top1, found["hybrid + examples"].overall.top1) == (0.5, 1.0)


def test_bm25_prefers_rare_words_and_short_documents() -> None:
    bm25 = Bm25()
    bm25.put("long", ["tax", "car", "year", "year", "town"])
    bm25.put("short", ["tax", "car"])
    bm25.put("other", ["rain", "town"])

    scores = bm25.scores(["car"])

    assert scores["short"] > scores["long"]
    assert "other" not in scores
    assert bm25.scores(["rain"])["other"] > bm25.scores(["town"])["other"]
