"""More requests in one message than are met at once: what is put off, and what is not."""

from __future__ import annotations

from schemas.routing import Decision
from tests.unit.workers.classification import twins
from tests.unit.workers.classification.twins import ADDRESS, PRICES, WEATHER, WordSearch
from workers.classification.api_tools import ApiTools
from workers.classification.routes import RouteFinder


async def decided(said: str, *, search: WordSearch | None = None, **settings: object) -> Decision:
    finder = RouteFinder(search=search or WordSearch(), settings=twins.settings(**settings))
    decision = await ApiTools(finder=finder).claim(twins.message(said))
    assert decision is not None
    return decision


def ids(decision: Decision) -> list[str]:
    return [endpoint.endpoint_id for endpoint in decision.endpoints]


async def test_a_fourth_request_is_put_off_with_its_endpoint() -> None:
    said = "Calculate my tax, show the weather, find an address and tell me the electricity price"

    decision = await decided(said)

    assert ids(decision) == ["tax", "weather", "address"]
    assert [(one.part, one.endpoint) for one in decision.later] == [("tell me the electricity price", PRICES)]
    assert decision.unmatched == ()


async def test_of_four_requests_the_three_that_can_be_met_are_and_the_other_is_named() -> None:
    decision = await decided(
        "Calculate my tax, explain climate change, find an address and tell me the electricity price"
    )

    assert ids(decision) == ["tax", "address", "prices"]
    assert (decision.later, decision.unmatched) == ((), ("explain climate change",))


async def test_a_very_long_list_is_searched_in_part_and_the_rest_put_off_unseen() -> None:
    said = "Calculate my tax and show the weather and find an address and tell me the electricity price"
    search = WordSearch()

    decision = await decided(said, search=search, max_endpoints=1)

    assert ids(decision) == ["tax"]
    assert [one.endpoint for one in decision.later] == [WEATHER, ADDRESS, None]
    assert decision.later[-1].part not in search.searched
