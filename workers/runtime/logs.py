"""Logs are JSON lines on stderr: an event and its fields. Secrets never reach them."""

from __future__ import annotations

import logging
import re
import sys
from collections.abc import Mapping, MutableMapping
from typing import Any

import structlog
from structlog.typing import Processor

_HIDDEN = "[redacted]"
_SECRET_NAME = re.compile(
    r"(^|[_\-.])(token|secrets?|passwords?|passwd|authorization|api[_\-]?keys?|cookies?|credentials?)$", re.IGNORECASE
)
_IN_URL = re.compile(r"(?P<scheme>[a-z][a-z0-9+.\-]*://)[^\s/@]*@", re.IGNORECASE)
_IN_HEADER = re.compile(r"\b(?P<scheme>Bearer\s+|Authorization:\s*Basic\s+)[A-Za-z0-9._~+/=\-]{6,}", re.IGNORECASE)
_IN_QUERY = re.compile(
    r"(?P<name>[?&](?:api[_\-]?key|apikey|access_token|token|secret|password|key)=)[^&\s\"']+", re.IGNORECASE
)


def redact(value: object) -> object:
    """Hide secrets inside a value: credentials in URLs, bearer tokens, and whatever a secret name holds."""
    if isinstance(value, str):
        value = _IN_URL.sub(rf"\g<scheme>{_HIDDEN}@", value)
        value = _IN_HEADER.sub(rf"\g<scheme>{_HIDDEN}", value)
        return _IN_QUERY.sub(rf"\g<name>{_HIDDEN}", value)
    if isinstance(value, Mapping):
        return {key: _HIDDEN if _is_secret_name(key) else redact(held) for key, held in value.items()}
    if isinstance(value, list | tuple):
        return [redact(one) for one in value]
    return value


def _is_secret_name(name: object) -> bool:
    return isinstance(name, str) and _SECRET_NAME.search(name) is not None


def _redact_event(_logger: Any, _method: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    for name in event:
        event[name] = _HIDDEN if _is_secret_name(name) else redact(event[name])
    return event


def configure_logs(level: str) -> None:
    """Send structlog and the standard library's loggers to stderr as JSON lines; calling twice changes nothing."""
    shared: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            *shared,
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=True,
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=[*shared, structlog.stdlib.PositionalArgumentsFormatter()],
            processors=[
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                structlog.processors.format_exc_info,
                _redact_event,
                structlog.processors.JSONRenderer(default=repr, ensure_ascii=False),
            ],
        )
    )
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(level.upper())
    # Celery says three lines for each task; ours carry the turn.
    for noisy in ("celery.app.trace", "celery.worker.strategy", "httpx", "httpcore"):
        logging.getLogger(noisy).setLevel(max(logging.WARNING, root.level))
