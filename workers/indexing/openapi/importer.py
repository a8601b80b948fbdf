"""Every operation of a document: taken, changed, skipped or refused, and why."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import ValidationError

from schemas.base import Frozen
from schemas.registration import EndpointRegistration
from workers.indexing.openapi.document import Document, Node, Place, RefusedAt, escaped, read_document, texts
from workers.indexing.openapi.parameters import ParameterReader
from workers.indexing.openapi.schemas import Schemas, plain
from workers.indexing.openapi.servers import Credential, auth_of, base_url, credentials

_CALLABLE = ("GET", "POST", "PUT", "PATCH", "DELETE")
_LONGEST_DESCRIPTION = 20_000
_LONGEST_NAME = 200

State = Literal["taken", "changed", "skipped", "refused"]


class Remark(Frozen):
    """What was changed or why something was refused, and the JSON pointer of the place."""

    pointer: str
    reason: str


class Param(Frozen):
    """A parameter in the document's own words, for comparing."""

    name: str
    place: str
    type: str
    required: bool


class Operation(Frozen):
    """What became of one operation. `endpoint` is its registration; None when it was skipped or refused."""

    method: str
    path: str
    operation_id: str
    state: State
    pointer: str
    remarks: tuple[Remark, ...] = ()
    params: tuple[Param, ...] = ()
    needs: tuple[Credential, ...] = ()
    endpoint: dict[str, Any] | None = None


class ImportReport(Frozen):
    """All operations of a document, in its order."""

    title: str
    version: str
    operations: tuple[Operation, ...]

    @property
    def registrations(self) -> list[dict[str, Any]]:
        """What may be registered."""
        return [one.endpoint for one in self.operations if one.endpoint is not None]


def import_document(
    text: str, *, source_url: str = "", server: str = "", others: Mapping[str, str] | None = None
) -> ImportReport:
    """Read a document. One bad operation stops no other. Raises DocumentRefused when nothing can be read.

    `source_url` is where the text came from: relative servers are read from there. `server` overrides all servers.
    `others` are the texts of files it refers to, by their path from its folder.
    """
    document = read_document(text, others)
    info = document.root.get("info")
    told = info if isinstance(info, dict) else {}
    reader = _Reader(document, source_url=source_url, server=server)
    return ImportReport(
        title=str(told.get("title", "")), version=document.version, operations=tuple(reader.operations())
    )


class _Reader:
    """Reads the operations one by one."""

    def __init__(self, document: Document, *, source_url: str, server: str) -> None:
        self._document = document
        self._source_url = source_url
        self._server = server
        self._names: set[str] = set()

    def operations(self) -> list[Operation]:
        found: list[Operation] = []
        for path in self._document.root["paths"]:
            try:
                found += [self._operation(*one) for one in self._document.operations(str(path))]
            except RefusedAt as refused:
                remark = Remark(pointer=refused.pointer, reason=refused.reason)
                place = f"#/paths/{escaped(path)}"
                found.append(_passed_over("*", str(path), place, "refused", remark))
        return found

    def _operation(self, method: str, path: str, item: Place) -> Operation:
        pointer = f"{item.pointer}/{method.lower()}"
        if method not in _CALLABLE:
            return _passed_over(method, path, pointer, "refused", Remark(pointer=pointer, reason="no callable method"))
        schemas = Schemas(self._document)
        reader = ParameterReader(self._document, schemas)
        try:
            operation = item.child(method.lower())
            if operation.node.get("deprecated") is True:
                remark = Remark(pointer=f"{pointer}/deprecated", reason="deprecated")
                return _passed_over(method, path, pointer, "skipped", remark, operation.node)
            return self._take(method, path, item, operation=operation, reader=reader, schemas=schemas)
        except RefusedAt as refused:
            remark = Remark(pointer=refused.pointer, reason=refused.reason)
        except RecursionError:
            remark = Remark(pointer=pointer, reason="nested without end")
        refused_operation = _passed_over(method, path, pointer, "refused", remark, item.node.get(method.lower()))
        return refused_operation.model_copy(update={"params": tuple(_told(param) for param in reader.told)})

    def _take(
        self, method: str, path: str, item: Place, *, operation: Place, reader: ParameterReader, schemas: Schemas
    ) -> Operation:
        gathered = reader.read(path, item, operation)
        base = base_url(self._document, item, operation, source_url=self._source_url, server=self._server)
        needs = credentials(self._document, operation)
        auth = auth_of(needs)
        if needs and auth is None:
            schemas.note(f"{operation.pointer}/security", "how to sign in must be added to the endpoint's auth by hand")
        entry: Node = {
            "name": self._name(method, path, operation.node, schemas),
            "description": _description(method, path, operation.node),
            "url": base + path.partition("#")[0],
            "method": method,
            "params": gathered.params,
            "headers": gathered.headers,
            **({"body": gathered.body} if gathered.body else {}),
            **({"auth": auth} if auth else {}),
            "tags": [plain(tag) for tag in texts(operation.node, "tags")],
        }
        try:
            EndpointRegistration.model_validate(entry).to_endpoint("default")
        except ValidationError as error:
            fault = error.errors(include_url=False, include_input=False)[0]
            where = ".".join(str(step) for step in fault["loc"])
            raise RefusedAt(operation.pointer, f"{where}: {fault['msg']}") from error
        return Operation(
            method=method,
            path=path,
            operation_id=str(operation.node.get("operationId") or ""),
            state="changed" if schemas.notes else "taken",
            pointer=operation.pointer,
            remarks=tuple(Remark(pointer=at, reason=sentence) for at, sentence in schemas.notes),
            params=tuple(_told(param) for param in gathered.told),
            needs=tuple(needs),
            endpoint=entry,
        )

    def _name(self, method: str, path: str, operation: Node, schemas: Schemas) -> str:
        """Return the operation's id, or method and path; a name that occurs twice gets both."""
        place = f"{method} {path}"
        name = plain(str(operation.get("operationId") or place))[:_LONGEST_NAME]
        if name in self._names:
            schemas.note("#/paths", f"{name} names another operation too; method and path were added")
            name = f"{name[:80]} {place}"[:_LONGEST_NAME]
        self._names.add(name)
        return name


def _passed_over(
    method: str, path: str, pointer: str, state: State, remark: Remark, operation: object = None
) -> Operation:
    told = operation if isinstance(operation, dict) else {}
    return Operation(
        method=method,
        path=path,
        operation_id=str(told.get("operationId") or ""),
        state=state,
        pointer=pointer,
        remarks=(remark,),
    )


def _description(method: str, path: str, operation: Node) -> str:
    """Join summary and description; a summary that the description repeats is left out."""
    summary = plain(str(operation.get("summary") or "")).strip()
    text = plain(str(operation.get("description") or "")).strip()
    if summary and not text.startswith(summary.rstrip(".")):
        text = f"{summary.rstrip('.')}. {text}".strip()
    return (text or f"{method} {path}")[:_LONGEST_DESCRIPTION]


def _told(param: Node) -> Param:
    written = "string" if param["type"] in ("date", "datetime") else param["type"]
    return Param(name=param["name"], place=param["in"], type=written, required=param["required"])
