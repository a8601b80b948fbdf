"""Two bases for every message: strict inside the house, tolerant at the door."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict
from pydantic.alias_generators import to_camel
from pydantic.types import JsonValue

__all__ = ["AwareDatetime", "DoorModel", "Frozen", "JsonValue"]


def _require_zone(moment: datetime) -> datetime:
    if moment.tzinfo is None:
        raise ValueError("a moment needs a time zone")
    return moment


AwareDatetime = Annotated[datetime, AfterValidator(_require_zone)]


class Frozen(BaseModel):
    """A message that only our own processes write: an unknown field is a bug and is refused."""

    model_config = ConfigDict(frozen=True, extra="forbid", ser_json_inf_nan="null")


class DoorModel(BaseModel):
    """A message that clients write: camelCase on the wire, snake_case accepted, unknown fields ignored."""

    model_config = ConfigDict(frozen=True, extra="ignore", alias_generator=to_camel, populate_by_name=True)
