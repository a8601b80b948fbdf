"""Keeps the registered endpoints in Redis. A change and its log entry are one script; writers are fenced."""

from __future__ import annotations

import asyncio
import json
import secrets
from datetime import datetime

import redis.asyncio as aioredis

from schemas.registry import IndexState, Registered, Searchable
from workers.errors import EndpointUnknown, IndexRefused, StoreUnavailable
from workers.registry.connection import answering, load_script
from workers.registry.log import RegistryLog
from workers.runtime.clock import Clock, utc_now
from workers.runtime.keys import Keys

LOG_LENGTH = 10_000
"""Entries kept in the log (some hundred bytes each); a follower farther behind loads the snapshot instead."""

_POLL_S = 0.02
_ATTEMPTS = 20


def _member(registered: Registered) -> str:
    """The place of an endpoint in its tenant's list: sorted by tenant, name, id."""
    endpoint = registered.endpoint
    return f"{endpoint.tenant}\0{endpoint.name}\0{endpoint.endpoint_id}"


class RegistryStore:
    """The registry. All methods raise StoreUnavailable when Redis is away.

    Writing reads the record first and lets the script refuse when it has changed since; the loser reads again.
    """

    def __init__(self, redis: aioredis.Redis, keys: Keys, clock: Clock = utc_now) -> None:
        self._redis = redis
        self._keys = keys
        self._clock = clock
        self._change = load_script(redis, "change")
        self.log = RegistryLog(redis, keys)

    async def put(self, registered: Registered) -> Registered:
        """Store a registration and return it as stored: its version grows when anything but the version changed.

        What was searchable before stays so until the new version is published. An id that another tenant holds
        raises IndexRefused.
        """
        endpoint_id = registered.endpoint.endpoint_id
        for _ in range(_ATTEMPTS):
            raw = await self._raw(endpoint_id)
            old = Registered.model_validate_json(raw) if raw else None
            new = _succeed(old, registered)
            if await self._write(endpoint_id, raw, new, old=old) >= 0:
                return new
        raise StoreUnavailable(f"endpoint {endpoint_id} is being changed by too many at once")

    async def get(self, endpoint_id: str, *, tenant: str | None = None) -> Registered | None:
        """Return the endpoint, or None when it is unknown (or, with `tenant`, somebody else's)."""
        raw = await self._raw(endpoint_id)
        found = Registered.model_validate_json(raw) if raw else None
        if found is None or (tenant is not None and found.endpoint.tenant != tenant):
            return None
        return _as_of(found, await self.model())

    async def list(self, tenant: str, *, offset: int = 0, limit: int = 100) -> tuple[Registered, ...]:
        """Return a page of the tenant's endpoints, sorted by name."""
        with answering():
            members = await self._redis.zrangebylex(
                self._keys.registry_order(), f"[{tenant}\0", f"({tenant}\1", start=offset, num=limit
            )
            if not members:
                return ()
            found = await self._redis.hmget(
                self._keys.registry(), [str(member).rpartition("\0")[2] for member in members]
            )
        model = await self.model()
        return tuple(_as_of(Registered.model_validate_json(raw), model) for raw in found if raw)

    async def ids(self, tenant: str) -> frozenset[str]:
        """Return the ids of all the tenant's endpoints."""
        with answering():
            members = await self._redis.zrangebylex(self._keys.registry_order(), f"[{tenant}\0", f"({tenant}\1")
        return frozenset(str(member).rpartition("\0")[2] for member in members)

    async def announce_model(self, tag: str) -> None:
        """Say by which model's vectors the workers search; what another one indexed is stale from now on."""
        with answering():
            await self._redis.set(self._keys.registry_model(), tag)

    async def model(self) -> str:
        """Return the model that was announced last; empty when none ever was."""
        with answering():
            return str(await self._redis.get(self._keys.registry_model()) or "")

    async def set_curve(self, tag: str, curve: tuple[tuple[float, float], ...] | None) -> None:
        """Keep what a model's scores mean, measured on this registry; None forgets it. Workers read it at start."""
        with answering():
            if curve is None:
                await self._redis.hdel(self._keys.registry_curves(), tag)
            else:
                await self._redis.hset(self._keys.registry_curves(), tag, json.dumps(curve))

    async def curve(self, tag: str) -> tuple[tuple[float, float], ...] | None:
        """Return the curve that was measured here; None when none was."""
        with answering():
            raw = await self._redis.hget(self._keys.registry_curves(), tag)
        return tuple((float(at), float(to)) for at, to in json.loads(raw)) if raw else None

    async def count(self, tenant: str) -> int:
        """Return how many endpoints the tenant has."""
        with answering():
            return int(await self._redis.zlexcount(self._keys.registry_order(), f"[{tenant}\0", f"({tenant}\1"))

    async def delete(self, endpoint_id: str, *, tenant: str | None = None) -> bool:
        """Remove the endpoint everywhere; false when it was not there (or, with `tenant`, somebody else's)."""
        for _ in range(_ATTEMPTS):
            raw = await self._raw(endpoint_id)
            old = Registered.model_validate_json(raw) if raw else None
            if old is None or (tenant is not None and old.endpoint.tenant != tenant):
                return False
            if await self._write(endpoint_id, raw, None, old=old, kind="deleted") >= 0:
                return True
        raise StoreUnavailable(f"endpoint {endpoint_id} is being changed by too many at once")

    async def set_state(
        self, endpoint_id: str, state: IndexState, *, version: int, reason: str = "", model: str = ""
    ) -> bool:
        """Set the state of that version; false when a newer version came meanwhile. Unknown: EndpointUnknown."""
        return await self._advance(endpoint_id, version, state=state, reason=reason, model=model)

    async def publish(self, searchable: Searchable) -> bool:
        """Make an endpoint searchable: record, vectors and log entry at once.

        False when a newer version was registered meanwhile (its own indexing will follow); an endpoint deleted
        meanwhile raises EndpointUnknown. Published already, by another worker that was given the same work after a
        crash, it is not published again.
        """
        return await self._advance(
            searchable.endpoint.endpoint_id,
            searchable.endpoint.version,
            state=IndexState.INDEXED,
            model=searchable.model,
            searchable=searchable,
        )

    async def searchable(self, endpoint_id: str) -> Searchable | None:
        """Return what search has of an endpoint."""
        with answering():
            raw = await self._redis.hget(self._keys.registry_vectors(), endpoint_id)
        return Searchable.model_validate_json(raw) if raw else None

    async def wait_searchable(self, endpoint_id: str, timeout_s: float) -> bool:
        """Wait until every live follower finds the newest version; false when indexing failed or time ran out."""
        try:
            async with asyncio.timeout(timeout_s):
                while True:
                    found = await self.get(endpoint_id)
                    if found is None or found.state is IndexState.FAILED:
                        return False
                    if found.state is IndexState.INDEXED and await self._is_everywhere(endpoint_id):
                        return True
                    await asyncio.sleep(_POLL_S)
        except TimeoutError:
            return False

    async def _is_everywhere(self, endpoint_id: str) -> bool:
        with answering():
            place = await self._redis.hget(self._keys.registry_positions(), endpoint_id)
        return place is not None and await self.log.is_applied_everywhere(int(place))

    async def _raw(self, endpoint_id: str) -> str:
        with answering():
            return str(await self._redis.hget(self._keys.registry(), endpoint_id) or "")

    async def _advance(
        self,
        endpoint_id: str,
        version: int,
        *,
        state: IndexState,
        reason: str = "",
        model: str = "",
        searchable: Searchable | None = None,
    ) -> bool:
        for _ in range(_ATTEMPTS):
            raw = await self._raw(endpoint_id)
            if not raw:
                raise EndpointUnknown(endpoint_id)
            old = Registered.model_validate_json(raw)
            if old.endpoint.version != version:
                return False
            # Read after the record, which every publishing changes: whoever publishes in between makes our write fail.
            if searchable and old.state is IndexState.INDEXED and await self._is_published(searchable):
                return True
            update = {"state": state, "reason": reason, "model": model, "updated_at": self._now()}
            new = old.model_copy(update=update)
            if await self._write(endpoint_id, raw, new, old=old, searchable=searchable) >= 0:
                return True
        raise StoreUnavailable(f"endpoint {endpoint_id} is being changed by too many at once")

    async def _is_published(self, made: Searchable) -> bool:
        stored = await self.searchable(made.endpoint.endpoint_id)
        return stored is not None and (stored.fingerprint, stored.endpoint) == (made.fingerprint, made.endpoint)

    def _now(self) -> datetime:
        return self._clock()

    async def _write(
        self,
        endpoint_id: str,
        expected: str,
        new: Registered | None,
        *,
        old: Registered | None,
        searchable: Searchable | None = None,
        kind: str = "",
    ) -> int:
        k = self._keys
        with answering():
            return int(
                await self._change(
                    keys=[
                        k.registry(),
                        k.registry_order(),
                        k.registry_vectors(),
                        k.registry_positions(),
                        k.registry_head(),
                        k.registry_log(),
                    ],
                    args=[
                        endpoint_id,
                        expected,
                        new.model_dump_json() if new else "",
                        _member(old) if old else "",
                        _member(new) if new else "",
                        searchable.model_dump_json() if searchable else "",
                        kind or ("indexed" if searchable else ""),
                        LOG_LENGTH,
                        secrets.token_hex(8),
                    ],
                )
            )


def _as_of(registered: Registered, model: str) -> Registered:
    """Show an endpoint as stale when another model than the present one indexed it.

    It is not stored: while workers of two models run, each would call the other's work stale.
    """
    is_stale = registered.state is IndexState.INDEXED and model and registered.model != model
    if not is_stale:
        return registered
    return registered.model_copy(update={"state": IndexState.STALE, "reason": f"indexed by {registered.model}"})


def _succeed(old: Registered | None, new: Registered) -> Registered:
    """Give the new registration its version: one more than the old one's, or the same when nothing differs.

    What is indexed already and comes again as it is stays indexed.
    """
    if old is None:
        return new
    if old.endpoint.tenant != new.endpoint.tenant:
        raise IndexRefused(new.endpoint.endpoint_id, "this id is taken by another tenant")
    same = new.endpoint.model_copy(update={"version": old.endpoint.version})
    if same == old.endpoint and old.state is IndexState.INDEXED:
        return old
    version = old.endpoint.version + (same != old.endpoint)
    return new.model_copy(update={"endpoint": new.endpoint.model_copy(update={"version": version})})
