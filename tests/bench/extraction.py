"""How long the collection's loop takes for one message: `.venv/bin/python -m tests.bench.extraction`.

Prints p50 and p95 in milliseconds of processor time for short and long messages of three languages, for one endpoint
and for three at once. Only figures of an idle machine count.
"""

from __future__ import annotations

import time
from statistics import median

from schemas.endpoints import Endpoint, Language
from tests.unit.workers.extraction.small_catalogue import ADDRESS, CURRENCY, HOLIDAYS, NOW, PRICES, TAX, TRAINS
from workers.extraction.loop import collect, open_collection

ROUNDS = 200
MESSAGES: tuple[tuple[Language, tuple[Endpoint, ...], str], ...] = (
    ("en", (HOLIDAYS,), "public holidays in Estonia from 1 May 2026 to 31 May 2026"),
    ("et", (HOLIDAYS,), "Millised on riigipühad Lätis 1.–5. mai 2026?"),
    ("ru", (HOLIDAYS,), "праздники в Финляндии с 1 по 31 мая"),
    ("en", (TRAINS,), "Trains from Tartu to Valga next Friday"),
    ("et", (TRAINS,), "rong Tartust Tallinna ülehomme kell 15"),
    ("ru", (CURRENCY,), "1 234,56 евро в шведских кронах"),
    ("et", (TAX,), "Automaks, numbrimärk 456 DEF, 2027. aasta"),
    (
        "en",
        (TAX,),
        "What is the tax of the car with the plate 123ABC for this year, with the registration fee, please?",
    ),
    (
        "en",
        (ADDRESS, HOLIDAYS, PRICES),
        "Address: Raekoja plats, Tartu. Country EE, from 2026-01-01 to 2026-12-31. Electricity from 12 to 18 May 2026",
    ),
)


def took_ms(language: Language, endpoints: tuple[Endpoint, ...], message: str) -> float:
    """Return the processor time that one first message takes, in milliseconds."""
    began = time.process_time()
    collect(open_collection(endpoints, message), message, language=language, now=NOW)
    return (time.process_time() - began) * 1000


def main() -> None:
    every: list[float] = []
    for language, endpoints, message in MESSAGES:
        took_ms(language, endpoints, message)
        times = sorted(took_ms(language, endpoints, message) for _ in range(ROUNDS))
        every += times
        print(f"p50 {median(times):5.2f}  p95 {times[int(ROUNDS * 0.95)]:5.2f} ms  {language}  {message[:70]}")
    every.sort()
    print(f"p50 {median(every):5.2f}  p95 {every[int(len(every) * 0.95)]:5.2f} ms  all")


if __name__ == "__main__":
    main()
