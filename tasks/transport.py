"""kombu's Redis transport, for which one unreadable message is not the end of the worker.

kombu parses what it pops from a list and lets the parser's error rise through Celery's loop: the worker exits, the
message is gone, and the next worker may meet the next one.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from queue import Empty
from typing import Any

from kombu.transport import redis as kombu_redis
from kombu.transport import virtual

from tasks.quarantine import Parked, Quarantine
from workers.runtime.settings import settings


class Unreadable(Exception):
    """A message is no Celery envelope."""


def _envelope(item: bytes) -> dict[str, Any]:
    message = json.loads(item)
    if not isinstance(message, dict):
        raise Unreadable(f"a {type(message).__name__}, no envelope")
    return message


class Message(virtual.Message):
    """A message whose envelope has every part that the transport will ask for."""

    def __init__(self, payload: dict[str, Any], channel: Any = None, **kwargs: Any) -> None:
        """Read an envelope. Raises Unreadable instead of whichever error its bad part would lead to."""
        try:
            super().__init__(payload, channel, **kwargs)  # type: ignore[no-untyped-call] # kombu is half typed
            hash((self.delivery_tag, self.delivery_info["exchange"], self.delivery_info["routing_key"]))
        except (KeyError, ValueError, TypeError, AttributeError, IndexError) as error:
            raise Unreadable(repr(error)) from error


class QoS(kombu_redis.QoS):
    """Keeps kombu's two notes about each message, written together but without a transaction around them.

    Both commands travel in one packet; a transaction would only double the replies to read.
    """

    @contextmanager
    def pipe_or_acquire(self, pipe: Any = None, client: Any = None) -> Iterator[Any]:
        if pipe:
            yield pipe
        else:
            with self.channel.conn_or_acquire(client) as acquired:
                yield acquired.pipeline(transaction=False)


class Channel(kombu_redis.Channel):
    """Reads as kombu does, and quarantines what cannot be read."""

    Message = Message
    QoS = QoS
    _quarantine: Quarantine | None = None
    _bookkeeper: Any = None

    @contextmanager
    def conn_or_acquire(self, client: Any = None) -> Iterator[Any]:
        """Lend one client of the channel's pool again and again (kombu builds one for each note about a message)."""
        if client is None:
            client = self._bookkeeper = self._bookkeeper or self._create_client()  # type: ignore[no-untyped-call]
        yield client

    def _brpop_read(self, **options: Any) -> bool:
        """Read one pop's reply, as the original does, but look at the item before anybody trusts it."""
        connection = self.client.connection
        try:
            try:
                popped = self.client.parse_response(connection, "BRPOP", **options)
            except self.connection_errors:
                connection.disconnect()
                raise
            if not popped:
                raise Empty
            key, item = popped
            queue = key.decode().rsplit(self.sep, 1)[0]
            self._queue_cycle.rotate(queue)
            self._deliver_or_park(queue, item)
            return True
        finally:
            self._in_poll = None  # type: ignore[assignment] # as kombu itself does
            self._flush_brpop_reauth()  # type: ignore[no-untyped-call]

    def _deliver_or_park(self, queue: str, item: bytes) -> None:
        try:
            message = _envelope(item)
            self.connection._deliver(message, queue)  # noqa: SLF001 - kombu's own way from pop to consumer
        except (Unreadable, json.JSONDecodeError, UnicodeDecodeError, RecursionError) as error:
            self._park(queue, item, error)

    def _park(self, queue: str, item: bytes, error: Exception) -> None:
        if self._quarantine is None:
            self._quarantine = Quarantine.open(settings())
        raw = item.decode("utf-8", errors="backslashreplace") if isinstance(item, bytes) else item
        if not self._quarantine.park(Parked(reason="unreadable", queue=queue, raw=raw, error=str(error))):
            with self.conn_or_acquire() as client:
                client.lpush(queue, item)


class Transport(kombu_redis.Transport):
    """Hands out our channels."""

    Channel = Channel
