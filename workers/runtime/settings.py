"""Every setting, read once from the environment, frozen, with units in the names.

Only this file sees the environment. A variable is prefix and field in capitals, `CALLING_TIMEOUT_S=5`; see README.
"""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path
from typing import Literal, Self

from pydantic import Field, NonNegativeFloat, NonNegativeInt, PositiveFloat, PositiveInt, SecretStr, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from schemas.usage import Judgement

KEY_CHARACTERS = 32
"""The fewest characters of a key of ours."""


def _prefix(prefix: str) -> SettingsConfigDict:
    return SettingsConfigDict(env_prefix=prefix, frozen=True, extra="forbid")


class RedisSettings(BaseSettings):
    """Where state, events, broker and results live (the broker may be another server)."""

    model_config = _prefix("REDIS_")

    url: str = "redis://127.0.0.1:6379/0"
    key_prefix: str = "sb"
    socket_timeout_s: PositiveFloat = 5.0
    max_connections: PositiveInt = 256


class QueueSettings(BaseSettings):
    """Celery. `broker_url` empty means: the Redis of RedisSettings. `metrics_port` 0 means: a worker serves none."""

    model_config = _prefix("QUEUE_")

    broker_url: str = ""
    pool: Literal["asyncio", "threads"] = "asyncio"
    concurrency: PositiveInt = 500
    visibility_timeout_s: PositiveInt = 120
    task_time_limit_s: PositiveFloat = 60.0
    message_expires_s: PositiveInt = 3600
    result_expires_s: PositiveInt = 600
    max_deliveries: PositiveInt = 3
    dead_letters_kept: PositiveInt = 10_000
    shutdown_grace_s: PositiveFloat = 25.0
    metrics_host: str = "127.0.0.1"
    metrics_port: int = Field(default=0, ge=0, le=65_535)
    traces_url: str = ""
    traces_share: float = Field(default=1.0, ge=0, le=1)


class TurnSettings(BaseSettings):
    """Bounds of a turn and of what a chat remembers."""

    model_config = _prefix("TURN_")

    deadline_s: PositiveFloat = 60.0
    lease_s: PositiveFloat = 4.0
    lease_renew_s: PositiveFloat = 1.0
    sweep_every_s: PositiveFloat = 1.0
    rest_before_sweep_s: PositiveFloat = 2.0
    kept_s: PositiveInt = 86_400
    conversation_ttl_s: PositiveInt = 1_800
    queued_per_chat: PositiveInt = 20
    transcript_kept: PositiveInt = 20
    token_pace_ms: NonNegativeFloat = 0.0


class RoutingSettings(BaseSettings):
    """Thresholds of the seed project's scale; each model's calibration maps its scores onto it."""

    model_config = _prefix("ROUTING_")

    top_k: PositiveInt = 5
    near_cosine: float = 0.33
    min_cosine: float = 0.40
    high_cosine: float = 0.60
    switch_cosine: float = 0.50
    gap: float = 0.05
    multi_intent_enabled: bool = Field(default=True, validation_alias="MULTI_INTENT_ENABLED")
    api_tools_enabled: bool = Field(default=True, validation_alias="API_TOOL_CALLING_WORKFLOW_ENABLED")
    max_endpoints: PositiveInt = Field(default=3, validation_alias="MULTI_API_MAX_ENDPOINTS")


class CallingSettings(BaseSettings):
    """How we call customers' APIs. `allowed_hosts` are hosts or CIDRs that may be private or loopback.

    An endpoint names its secrets as `env:NAME` or `file:NAME`; the name of a variable must begin with `secret_prefix`,
    and a file must lie in `secrets_dir`, so that nobody who registers an endpoint reads anything else.
    """

    model_config = _prefix("CALLING_")

    timeout_s: PositiveFloat = 8.0
    batch_timeout_s: PositiveFloat = Field(default=30.0, validation_alias="MULTI_API_BATCH_TIMEOUT")
    max_response_bytes: PositiveInt = 2 * 1024 * 1024
    retries: int = Field(default=2, ge=0, le=5)
    allowed_hosts: str = ""
    breaker_failures_to_open: PositiveInt = 5
    breaker_cooldown_s: PositiveFloat = 30.0
    max_connections: PositiveInt = 200
    max_per_host: PositiveInt = 20
    secret_prefix: str = Field(default="SECRET_", min_length=1)
    secrets_dir: Path = Path("/run/secrets")
    secret_hosts: str = ""
    user_token_hosts: str = ""
    user_token_key: SecretStr | None = None
    ca_file: str = ""


class CacheSettings(BaseSettings):
    """The response cache, by the seed project's names. `redis_url` empty means: the Redis of RedisSettings."""

    model_config = _prefix("ATC_")

    response_cache_enabled: bool = True
    cache_default_ttl_seconds: PositiveInt = 1_800
    cache_ttl_jitter: float = Field(default=0.1, ge=0, le=0.5)
    cache_grace_s: float = Field(default=5.0, ge=0, le=60)
    last_call_ttl_seconds: PositiveInt = 1_800
    cache_key_prefix: str = Field(default="atc:cache", pattern=r"^[A-Za-z0-9:_.-]{1,60}$")
    last_call_key_prefix: str = Field(default="atc:last", pattern=r"^[A-Za-z0-9:_.-]{1,60}$")
    cache_max_bytes: PositiveInt = 256 * 1024
    cache_timeout_s: PositiveFloat = 0.5
    redis_url: str = ""


class RetrievalSettings(BaseSettings):
    """The vector engine and the embedding model."""

    model_config = _prefix("RETRIEVAL_")

    engine: Literal["edge", "server"] = "edge"
    qdrant_url: str = "http://127.0.0.1:6333"
    qdrant_api_key: SecretStr | None = None
    embedder: str = "multilingual-e5-small"
    embedder_url: str = ""
    embedder_api_key: SecretStr | None = None
    embed_threads: NonNegativeInt = 0
    fusion: Literal["weighted", "reciprocal"] = "weighted"
    poll_registry_s: PositiveFloat = 1.0


class IndexingSettings(BaseSettings):
    """Scheduled sources. Without `sources_file` there are none; the workers read it anew at each look."""

    model_config = _prefix("INDEXING_")

    sources_file: Path | None = None
    look_every_s: PositiveFloat = 15.0
    fetch_timeout_s: PositiveFloat = 30.0


class LlmSettings(BaseSettings):
    """The language model. `rules` never asks it; `auto` asks when the rules are unsure; `dspy` asks first.

    `model` is a DSPy name such as `openai/gpt-4.1-mini` or `azure/<deployment>`; any OpenAI-compatible server works
    through `api_base`. `models` and `programs` are JSON objects by judgement (`schemas.usage.Judgement`).
    """

    model_config = _prefix("LLM_")

    engine: Literal["rules", "auto", "dspy"] = "rules"
    model: str = "openai/gpt-4.1-mini"
    models: dict[Judgement, str] = {}
    api_base: str | None = None
    api_key: SecretStr | None = None
    api_version: str | None = None
    second_model: str = ""
    second_api_base: str | None = None
    second_api_key: SecretStr | None = None
    form: Literal["marks", "json_schema"] = "marks"
    timeout_s: PositiveFloat = 8.0
    max_tokens: PositiveInt = 1_000
    retries: int = Field(default=2, ge=0, le=5)
    rest_after_failures: PositiveInt = 3
    rest_s: PositiveFloat = 15.0
    turn_calls: PositiveInt = 8
    turn_tokens: PositiveInt = 60_000
    tenant_daily_usd: NonNegativeFloat = 0.0
    prices_file: Path | None = None
    programs: dict[Judgement, str] = {}
    programs_dir: Path = Path("programs")
    instructions: str = Field(default="", max_length=2_000)


class GuardSettings(BaseSettings):
    """What is checked, by the guards' names: built-in ones, or an operator's own as `package.module:Class`.

    `questions`: what a person sends; `answers`: every answer made of an API's data; `model_answers`: also those that a
    model wrote, where an objection leaves the wording to the rules. `broken`: what becomes of a text when an operator's
    own guard raises.
    """

    model_config = _prefix("GUARD_")

    questions: str = "injection, secrets, length"
    answers: str = "secrets"
    model_answers: str = "raw_data, language, numbers, contacts, cards"
    broken: Literal["refuse", "pass"] = "refuse"
    longest_question: PositiveInt = 6_000
    single_answers_whole: bool = False


class ShimSettings(BaseSettings):
    """The street door."""

    model_config = _prefix("SHIM_")

    host: str = "127.0.0.1"
    port: PositiveInt = 8100
    max_body_bytes: PositiveInt = 256 * 1024
    max_register_bytes: PositiveInt = 8 * 1024 * 1024
    max_queued_turns: PositiveInt = 5_000
    retry_after_s: PositiveInt = 2
    heartbeat_s: PositiveFloat = 15.0
    slow_reader_events: PositiveInt = 2_000
    index_wait_s: PositiveFloat = 10.0


class LocalSettings(BaseSettings):
    """The embedded default: where data lives and on which ports its parts listen."""

    model_config = _prefix("SIGNALBOX_")

    data_dir: Path = Path.home() / ".local" / "share" / "signalbox"
    redis_port: PositiveInt = 6390
    demo_port: PositiveInt = 8190
    log_level: Literal["debug", "info", "warning", "error"] = "info"


class Settings(BaseSettings):
    """All of them together, as `wiring` hands them down."""

    model_config = SettingsConfigDict(frozen=True, extra="forbid")

    redis: RedisSettings = Field(default_factory=RedisSettings)
    queue: QueueSettings = Field(default_factory=QueueSettings)
    turn: TurnSettings = Field(default_factory=TurnSettings)
    routing: RoutingSettings = Field(default_factory=RoutingSettings)
    calling: CallingSettings = Field(default_factory=CallingSettings)
    cache: CacheSettings = Field(default_factory=CacheSettings)
    retrieval: RetrievalSettings = Field(default_factory=RetrievalSettings)
    indexing: IndexingSettings = Field(default_factory=IndexingSettings)
    llm: LlmSettings = Field(default_factory=LlmSettings)
    guard: GuardSettings = Field(default_factory=GuardSettings)
    shim: ShimSettings = Field(default_factory=ShimSettings)
    local: LocalSettings = Field(default_factory=LocalSettings)

    @model_validator(mode="after")
    def _times_fit_into_each_other(self) -> Self:
        """Refuse settings under which Redis would hand a healthy task out twice, or lose a chord (CEL-01, CEL-12)."""
        if self.queue.visibility_timeout_s <= self.queue.task_time_limit_s:
            raise ValueError(
                "QUEUE_VISIBILITY_TIMEOUT_S must exceed QUEUE_TASK_TIME_LIMIT_S, or running tasks start twice"
            )
        if self.queue.result_expires_s <= self.calling.batch_timeout_s:
            raise ValueError(
                "QUEUE_RESULT_EXPIRES_S must exceed MULTI_API_BATCH_TIMEOUT, or chords lose their callback"
            )
        return self

    @model_validator(mode="after")
    def _tokens_can_be_sealed(self) -> Self:
        """Refuse to pass people's tokens on without a key that seals them on their way."""
        key = self.calling.user_token_key
        if self.calling.user_token_hosts and (key is None or len(key.get_secret_value()) < KEY_CHARACTERS):
            raise ValueError(
                f"CALLING_USER_TOKEN_HOSTS needs CALLING_USER_TOKEN_KEY, a secret of {KEY_CHARACTERS} characters or"
                " more that the HTTP process and the calling workers share; make one with: openssl rand -base64 32"
            )
        return self


@cache
def settings() -> Settings:
    """Read the environment once per process."""
    return Settings()


def forbid_model_downloads() -> None:
    """Keep the model library on its bundled price list; it would fetch a newer one from the network on first use."""
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")


def environment_secret(name: str, *, prefix: str) -> SecretStr | None:
    """Read a secret that an endpoint names; None when it is not set, empty, or outside the prefix."""
    value = os.environ.get(name, "") if name.startswith(prefix) else ""
    return SecretStr(value) if value else None


def inherited_environment() -> dict[str, str]:
    """Copy the environment for a child process; only the supervisor of the embedded stack needs it."""
    return dict(os.environ)
