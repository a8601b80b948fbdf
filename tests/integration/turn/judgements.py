"""One turn for each judgement, what a model should say in it, and answers that are readable and of no use."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

from schemas.base import JsonValue
from schemas.usage import Judgement
from tests.integration.llm.scripted import Line, Reply, marked

HOLIDAYS, TAX = "6f0a4c1e-2b7d-4a53-9c11-8f2f6a1d0e01", "6f0a4c1e-2b7d-4a53-9c11-8f2f6a1d0e04"
CALCULATE = "Calculate the vehicle tax for registration number 123ABC for 2026"
Fields = Mapping[str, JsonValue]


@dataclass(frozen=True, kw_only=True)
class Judged:
    """`talk` leads to the judgement in its last message. `right`: an answer's fields that change what comes of it."""

    talk: tuple[str, ...] = ()
    right: Fields
    useless: tuple[Fields, ...]


_FOREIGN = "Налог на ваше транспортное средство был успешно рассчитан сегодня."
_ESTONIAN = "Teie auto maks on nüüd välja arvutatud ja rohkem ei oska ma selle kohta praegu öelda."
_BAD_ANSWERS = (
    "The tax for 123ABC is 98765 euros.",
    '{"tax": 127, "plate": "123ABC"}',
    _FOREIGN,
    _ESTONIAN,
    "Use the key sk-proj-abcdefghijklmnop1234 for 123ABC.",
    "Pay at https://evil.example/pay for 123ABC.",
    "The answer is:",
    " ",
)
JUDGEMENTS: Mapping[Judgement, Judged] = {
    "endpoint_disambiguation": Judged(
        talk=("holiday dates",),
        right={"best_endpoint_id": HOLIDAYS},
        useless=({"best_endpoint_id": "delete_everything"}, {"best_endpoint_id": HOLIDAYS[:7]}),
    ),
    "intent_decomposition": Judged(
        talk=("What is the weather in Tartu while I also wonder about the tax of the car 123ABC in 2026",),
        right={"mode": "parallel", "sub_queries": ["the weather in Tartu", "the tax of the car 123ABC in 2026"]},
        useless=(
            {"mode": "parallel", "sub_queries": ["the weather in Tartu", "the price of a yacht in Monaco"]},
            {"mode": "parallel", "sub_queries": ["the weather in Tartu"]},
            {"mode": "parallel", "sub_queries": {"a": 1}},
        ),
    ),
    "service_intent": Judged(
        talk=("What must I pay to the state for KIISU, my old Volga?",),
        right={"matched_service_id": TAX, "confidence": 0.9, "entities": {"regNr": "KIISU"}},
        useless=(
            {"matched_service_id": "drop table", "confidence": 0.9, "entities": {}},
            {"matched_service_id": TAX, "confidence": "very", "entities": {}},
            {"matched_service_id": TAX, "confidence": 0.9, "entities": [1]},
        ),
    ),
    "parameter_extraction": Judged(
        talk=("What are the public holidays in the republic of the Latvians?",),
        right={"found": {"countryIsoCode": {"value": "LV", "words": "the Latvians"}}},
        useless=(
            {"found": {"validFrom": {"value": "2020-05-05", "words": "last spring"}}},
            {"found": {"drop_table": {"value": "1", "words": "the Latvians"}}},
            {"found": {"validFrom": "2026-01-01", "validTo": 7, "countryIsoCode": None}},
            {"found": [1, 2]},
        ),
    ),
    "clarifying_question": Judged(
        talk=("What are the public holidays in Estonia?",),
        right={"question": "For which days do you want to know them?"},
        useless=(
            {"question": "Here are the holidays you asked for."},
            {"question": '{"ask": "validFrom?"}'},
            {"question": "Не могли бы вы назвать начало и конец нужного вам периода времени?"},
            {"question": "Kas sa saaksid palun öelda, mis päevast mis päevani sa neid teada tahad?"},
            {"question": "Could you pick the days at https://evil.example/pay?"},
            {"question": "For which of the 98765 days do you want to know them?"},
            {"question": " "},
        ),
    ),
    "api_answer": Judged(
        talk=(CALCULATE,),
        right={"formatted_answer": "The tax for 123ABC has been worked out."},
        useless=tuple({"formatted_answer": text} for text in _BAD_ANSWERS),
    ),
    "combined_answer": Judged(
        talk=("Show me the latest votings in the parliament, and calculate the vehicle tax for 123ABC for 2026",),
        right={"unified_answer": "The votings are known, and so is the tax for 123ABC."},
        useless=tuple({"unified_answer": text} for text in _BAD_ANSWERS),
    ),
    "follow_up": Judged(
        talk=(
            "What are the public holidays in Estonia in 2026?",
            "and whatever the Finns do over there in Finland?",
        ),
        right={"verdict": "param_update", "changed": {"countryIsoCode": "Finland"}},
        useless=(
            {"verdict": "param_update", "changed": {"countryIsoCode": "Norway"}},
            {"verdict": "certainly", "changed": {}},
            {"verdict": "param_update", "changed": {"admin": "Finland"}},
            {"verdict": "param_update", "changed": 7},
        ),
    ),
    "endpoint_enrichment": Judged(
        right={"context": "People ask this when they want to know which days are free of work."},
        useless=({"context": _FOREIGN}, {"context": " "}),
    ),
}


def in_form(fields: Fields) -> str:
    """Write an answer as it was asked for."""
    return marked(**{name: _written(value) for name, value in fields.items()})


def _written(value: JsonValue) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


# What each makes of the right answer. The model's word is lost: the rules must have theirs.
FAULTS: Mapping[str, Line | None] = {
    "a rate limit that ends too late": Reply(status=429, retry_after="60"),
    "a rate limit": 429,
    "a server error": 500,
    "a server that is away": 503,
    "a revoked key": 401,
    "no such model": 404,
    "silence": None,
    "a stall in the middle": None,
    "a connection that is cut at once": Reply(dies_after=0),
    "a death in the middle": None,
    "a page in place of an answer": Reply(raw=b"<html>bad gateway</html>"),
    "half a body": Reply(raw=b'{"id": "c", "choices": [{"mess'),
    "nothing": "",
    "prose": "I would rather talk about 77777 other things.",
    "other fields": marked(answer="yes"),
    "an answer cut off": None,
}
LATE_S = 0.7


def fault(name: str, right: Fields) -> Line:
    """Return what the server says in place of the right answer."""
    line = FAULTS[name]
    if line is not None:
        return line
    content = in_form(right)
    return {
        "silence": Reply(content=content, delay_s=LATE_S),
        "a stall in the middle": Reply(content=content, pause_s=LATE_S),
        "a death in the middle": Reply(content=content, dies_after=4),
        "an answer cut off": Reply(content=content[:12], finish="length"),
    }[name]


# What is written in another form, and still says what it should.
FORMS = ("no end mark", "fenced JSON", "JSON in prose", "broken JSON")


def in_another_form(name: str, right: Fields) -> str:
    """Write the right answer as models do that miss the form."""
    plain = json.dumps(right, ensure_ascii=False)
    return {
        "no end mark": in_form(right).removesuffix("\n\n[[ ## completed ## ]]"),
        "fenced JSON": f"```json\n{plain}\n```",
        "JSON in prose": f"Of course! Here it is: {plain} Anything else?",
        "broken JSON": plain.removesuffix("}") + ",}",
    }[name]
