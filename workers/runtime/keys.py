"""Every Redis key and channel is built here.

All records of one chat carry the hash tag of its shard, so that one script may touch them together, on a cluster too.

    sb:{a}:turn:<turn>      hash    record, phase, version, attempt, seq, queued commands
    sb:{a}:events:<turn>    stream  what happened; ids are 1-0, 2-0, …
    sb:{a}:live:<turn>      channel the same events, as they happen
    sb:{a}:chat:<chat>      string  the conversation
    sb:{a}:active:<chat>    string  the turn that holds the chat
    sb:{a}:waiting:<chat>   list    turns queued behind it
    sb:{a}:calls:<turn>     hash    call id → first outcome
    sb:{a}:claim:<turn>:<what>  string  who works on it now (a lease)
    sb:{a}:own-token:<turn> string  the person's own token, sealed, until the turn's deadline
    sb:{a}:costs:<turn>     hash    judgement:metric → what models were asked for the turn
    sb:{a}:moving           zset    turns that owe a step, by the moment of their last progress (seconds)
    sb:{registry}           hash    endpoint id → registered endpoint
    sb:{registry}:order     zset    endpoint ids by tenant, for listing
    sb:{registry}:vectors   hash    endpoint id → what search needs of it
    sb:{registry}:positions hash    endpoint id → its last place in the log
    sb:{registry}:head      hash    epoch (changes when the registry was wiped) and seq (last place in the log)
    sb:{registry}:log       stream  what changed, for every process's private index
    sb:{registry}:model     string  which model's vectors the workers search by
    sb:{registry}:curves    hash    model → what its scores mean here, where that was measured
    sb:{registry}:followers zset    processes that follow the log, by the moment of their last sign of life (seconds)
    sb:{registry}:applied   hash    follower → id of the last log entry it applied
    sb:{registry}:sources   string  the scheduled sources, as they were last read
    sb:{registry}:owned     hash    endpoint id → which source brought it, and a digest of what it brought
    sb:{registry}:runs      hash    source → its last run
    sb:{registry}:claim:<source>    string  the run that has the source
    sb:{registry}:run:<run> string  how far a run has come
    sb:asked:<id>           string  a question to search, until a worker answers it
    sb:answered:<id>        string  its answer, until the door has read it
    sb:usage:<day>          hash    [tenant, judgement, model, metric] → that day's sum
    sb:spent:<day>:<tenant> string  dollars that the tenant's requests to models cost that day
    sb:present:<queue>      zset    workers that serve a queue, by the moment of their last sign of life (seconds)
    sb:atc:cache:{digest}   hash    a response: its outcome, and when its call began; beside it stand
                                    …:flight (who asks now) and …:landed:<token> (how that ended)
    sb:{a}:atc:last:<chat>  string  the chat's last calls (both prefixes are settings)
    sb:dead                 hash    dead letter id → letter;  sb:dead:index  zset by time
    sb:access:{<client>}    string  an OAuth2 access token, sealed, while it lasts; …:fetching is held by who fetches it
    sb:breaker:<endpoint>   hash    circuit breaker
    sb:breaker-changes      stream  what became of them, the newest thousand
"""

from __future__ import annotations

from dataclasses import dataclass

from schemas.ids import ChatKey, TurnId, chat_of, shard_of


@dataclass(frozen=True)
class Keys:
    """Builds keys under one prefix."""

    prefix: str = "sb"

    def _of_chat(self, chat: ChatKey, kind: str) -> str:
        return f"{self.prefix}:{{{shard_of(chat)}}}:{kind}:{chat}"

    def _of_turn(self, turn: TurnId, kind: str) -> str:
        return f"{self.prefix}:{{{shard_of(chat_of(turn))}}}:{kind}:{turn}"

    def turn(self, turn: TurnId) -> str:
        return self._of_turn(turn, "turn")

    def events(self, turn: TurnId) -> str:
        return self._of_turn(turn, "events")

    def live(self, turn: TurnId) -> str:
        return self._of_turn(turn, "live")

    def calls(self, turn: TurnId) -> str:
        return self._of_turn(turn, "calls")

    def claim(self, turn: TurnId, what: str) -> str:
        return f"{self._of_turn(turn, 'claim')}:{what}"

    def own_token(self, turn: TurnId) -> str:
        return self._of_turn(turn, "own-token")

    def costs(self, turn: TurnId) -> str:
        return self._of_turn(turn, "costs")

    def usage(self, day: str) -> str:
        return f"{self.prefix}:usage:{day}"

    def spent(self, day: str, tenant: str) -> str:
        return f"{self.prefix}:spent:{day}:{tenant}"

    def chat(self, chat: ChatKey) -> str:
        return self._of_chat(chat, "chat")

    def active(self, chat: ChatKey) -> str:
        return self._of_chat(chat, "active")

    def waiting(self, chat: ChatKey) -> str:
        return self._of_chat(chat, "waiting")

    def moving(self, shard: str) -> str:
        return f"{self.prefix}:{{{shard}}}:moving"

    def registry(self) -> str:
        return f"{self.prefix}:{{registry}}"

    def registry_order(self) -> str:
        return f"{self.registry()}:order"

    def registry_vectors(self) -> str:
        return f"{self.registry()}:vectors"

    def registry_positions(self) -> str:
        return f"{self.registry()}:positions"

    def registry_head(self) -> str:
        return f"{self.registry()}:head"

    def registry_log(self) -> str:
        return f"{self.registry()}:log"

    def registry_model(self) -> str:
        return f"{self.registry()}:model"

    def registry_curves(self) -> str:
        return f"{self.registry()}:curves"

    def sources(self) -> str:
        return f"{self.registry()}:sources"

    def source_owned(self) -> str:
        return f"{self.registry()}:owned"

    def source_runs(self) -> str:
        return f"{self.registry()}:runs"

    def source_claim(self, source: str) -> str:
        return f"{self.registry()}:claim:{source}"

    def source_run(self, run: str) -> str:
        return f"{self.registry()}:run:{run}"

    def followers(self) -> str:
        return f"{self.registry()}:followers"

    def applied(self) -> str:
        return f"{self.registry()}:applied"

    def asked(self, question: str) -> str:
        return f"{self.prefix}:asked:{question}"

    def answered(self, question: str) -> str:
        return f"{self.prefix}:answered:{question}"

    def present(self, queue: str) -> str:
        return f"{self.prefix}:present:{queue}"

    def response(self, name: str, digest: str) -> str:
        return f"{self.prefix}:{name}:{{{digest}}}"

    def last_calls(self, name: str, chat: ChatKey) -> str:
        return self._of_chat(chat, name)

    def dead(self) -> str:
        return f"{self.prefix}:dead"

    def dead_index(self) -> str:
        return f"{self.prefix}:dead:index"

    def quarantine(self) -> str:
        return f"{self.prefix}:quarantine"

    def deliveries(self, task_id: str) -> str:
        return f"{self.prefix}:deliveries:{task_id}"

    def access_token(self, client: str) -> str:
        return f"{self.prefix}:access:{{{client}}}"

    def breaker(self, endpoint: str) -> str:
        return f"{self.prefix}:breaker:{endpoint}"

    def breaker_changes(self) -> str:
        return f"{self.prefix}:breaker-changes"
