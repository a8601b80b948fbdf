"""`signalbox ask` and `signalbox chat`: talk to the system, streamed as it answers."""

from __future__ import annotations

import json
import time
import uuid
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ops.cli.screen import FAILED, CommandFailed, JsonFlag, UrlOption, print_json

if TYPE_CHECKING:
    from ops.cli.client import Shim

ChatOption = Annotated[str, typer.Option("--chat", help="Id of a chat to go on with; by default a new one.")]
_GOODBYES = frozenset({"exit", "quit", "/q", ":q"})


class Reply:
    """One answer as it is heard: its text, the choices it offers, whether it asks or failed, and how long it took."""

    def __init__(self) -> None:
        self.began = time.monotonic()
        self.first_s = 0.0
        self.whole_s = 0.0
        self.text = ""
        self.buttons: list[dict[str, str]] = []
        self.is_question = False
        self.error: dict[str, Any] | None = None


def say(shim: Shim, chat_id: str, message: str) -> Reply:
    """Say something in a chat and print the answer piece by piece as it comes."""
    reply = Reply()
    for heard in shim.stream(_said(chat_id, message)):
        match heard.name:
            case "":
                reply.first_s = reply.first_s or time.monotonic() - reply.began
                typer.echo(heard.content, nl=False)
                reply.text += heard.content
                reply.buttons = heard.buttons or reply.buttons
            case "replace":
                reply.text = str(heard.data["content"])
                typer.echo(f"\n{reply.text}", nl=False)
            case "question":
                reply.is_question = True
            case "error":
                reply.error = heard.data
    reply.whole_s = time.monotonic() - reply.began
    typer.echo()
    for number, button in enumerate(reply.buttons, start=1):
        typer.secho(f"  {number}. {button['title']}", fg="cyan")
    return reply


def new_chat() -> str:
    """Make the id of a new chat."""
    return f"cli-{uuid.uuid4()}"


def _chat_in_json(shim: Shim, chat_id: str) -> None:
    """Answer each line of the standard input with one line, what `ask --json` would print."""
    for line in typer.get_text_stream("stdin", encoding="utf-8"):
        message = line.strip()
        if message.lower() in _GOODBYES:
            return
        if message:
            answer = shim.request("POST", "/orchestrate", json=_said(chat_id, message))
            typer.echo(json.dumps(answer, ensure_ascii=False))


def _said(chat_id: str, message: str) -> dict[str, str]:
    return {"chatId": chat_id, "message": message, "authorId": "cli"}


def ask(
    message: Annotated[str, typer.Argument(help="What to ask.")],
    chat: ChatOption = "",
    url: UrlOption = "",
    *,
    as_json: JsonFlag = False,
) -> None:
    """Ask one thing and print the answer as it comes."""
    from ops.cli.client import Shim
    from ops.cli.place import shim_url

    shim, chat_id = Shim(shim_url(url)), chat or new_chat()
    if as_json:
        print_json(shim.request("POST", "/orchestrate", json=_said(chat_id, message)))
        return
    reply = say(shim, chat_id, message)
    if reply.error is not None:
        raise typer.Exit(FAILED)
    if reply.is_question:
        typer.secho(f"(answer it with: signalbox ask --chat {chat_id} '…')", dim=True, err=True)


def chat(chat: ChatOption = "", url: UrlOption = "", *, as_json: JsonFlag = False) -> None:
    """Talk until you say exit; a number presses the button of that number. With --json a line gets a line of JSON."""
    from ops.cli.client import Shim
    from ops.cli.place import shim_url

    shim, chat_id = Shim(shim_url(url)), chat or new_chat()
    if as_json:
        _chat_in_json(shim, chat_id)
        return
    buttons: list[dict[str, str]] = []
    while True:
        try:
            message = typer.prompt("you", prompt_suffix="> ").strip()
        except typer.Abort:
            typer.echo()
            return
        if message.lower() in _GOODBYES:
            return
        if message.isdigit() and 0 < int(message) <= len(buttons):
            message = buttons[int(message) - 1]["payload"]
        try:
            buttons = say(shim, chat_id, message).buttons
        except CommandFailed as failure:
            typer.secho(failure.problem, err=True, fg="red")
