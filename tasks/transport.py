"""kombu's Redis transport, for which one unreadable message is not the end of the worker.

kombu parses what it pops from a list and lets the parser's error rise through Celery's loop: the worker exits, the
message is gone, and the next worker may meet the next one.
"""

from __future__ import annotations

import json
from queue import Empty
from time import time
from typing import Any

import redis
from kombu.asynchronous.hub import get_event_loop
from kombu.transport import redis as kombu_redis
from kombu.transport import virtual
from kombu.utils.json import dumps

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
    """Keeps kombu's two notes about each message, in kombu's form, but after the message is in its task's hands.

    kombu notes a message, waits for both replies, and only then looks at it. Here the note follows within the same turn
    of Celery's loop, together with those of other messages. A worker killed before it, as before kombu's own, takes the
    message with it; a turn is then asked for again by the sweep.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)  # type: ignore[no-untyped-call] # kombu is half typed
        self._unnoted: dict[str, Any] = {}

    def append(self, message: Any, delivery_tag: str) -> None:
        """Take a message up; note it at the end of this turn of the loop, so that another worker has it if we die."""
        virtual.QoS.append(self, message, delivery_tag)  # type: ignore[no-untyped-call] # kombu is half typed
        self._unnoted[delivery_tag] = message
        hub = get_event_loop()
        if hub is None:
            self.note_received()
        else:
            hub.call_soon(self.note_received)  # type: ignore[no-untyped-call] # kombu is half typed

    def note_received(self) -> None:
        """Write the notes that are due, in one packet."""
        unnoted, self._unnoted = self._unnoted, {}
        commands: list[tuple[Any, ...]] = []
        for tag, message in unnoted.items():
            delivery = message.delivery_info
            raw = [message._raw, delivery["exchange"], delivery["routing_key"]]  # noqa: SLF001 - kombu's own form
            commands += [
                ("ZADD", self._key(self.unacked_index_key), time(), tag),
                ("HSET", self._key(self.unacked_key), tag, dumps(raw)),  # type: ignore[no-untyped-call] # half typed
            ]
        if commands:
            self._note(*commands)

    def ack(self, delivery_tag: str) -> None:
        """Forget a message that is done with; one that was never noted needs no forgetting."""
        if self._unnoted.pop(delivery_tag, None) is None:
            self._note(
                ("ZREM", self._key(self.unacked_index_key), delivery_tag),
                ("HDEL", self._key(self.unacked_key), delivery_tag),
            )
        virtual.QoS.ack(self, delivery_tag)  # type: ignore[no-untyped-call] # kombu is half typed

    def restore_by_tag(self, tag: str, client: Any = None, leftmost: bool = False) -> None:  # noqa: FBT001, FBT002 - kombu's
        """Give a message back to its queue."""
        self.note_received()
        super().restore_by_tag(tag, client, leftmost)  # type: ignore[no-untyped-call] # kombu is half typed

    def _key(self, name: str) -> str:
        return f"{self.channel.global_keyprefix}{name}"

    def _note(self, *commands: tuple[Any, ...]) -> None:
        connection = self.channel.pool.get_connection()
        try:
            connection.send_packed_command(connection.pack_commands(commands))
            for _ in commands:
                connection.read_response()
        except BaseException:
            connection.disconnect()  # a reply that is still under way must not answer the next command
            raise
        finally:
            self.channel.pool.release(connection)


class Channel(kombu_redis.Channel):
    """Reads as kombu does, and quarantines what cannot be read."""

    Message = Message
    QoS = QoS
    _quarantine: Quarantine | None = None

    def _connparams(self, asynchronous: bool = False) -> dict[str, Any]:  # noqa: FBT001, FBT002 - kombu's
        """Say where to connect. Raises ConnectionError once the connection was given up.

        kombu then raises AttributeError, which nobody expects: a worker that loses Redis with a message in hand ends.
        """
        if self.connection is None or self.connection.client is None:
            raise redis.ConnectionError("the connection to the broker was given up")
        return super()._connparams(asynchronous)  # type: ignore[no-any-return,no-untyped-call] # kombu is half typed

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
