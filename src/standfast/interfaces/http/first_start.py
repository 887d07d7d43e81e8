"""The first start: a key for whoever started the server, and three ways to connect."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import stat
import sys
from collections.abc import Iterator
from pathlib import Path

from standfast.access import keys
from standfast.access.codes import make_code
from standfast.errors import Invalid
from standfast.interfaces.http.callers import is_loopback
from standfast.interfaces.http.secret_files import FIRST_KEY, write_secret
from standfast.memory import AsyncMemory
from standfast.settings import Settings
from standfast.types import ALL_RIGHTS
from standfast.types.frozen import frozen
from standfast.wiring.configuration import is_journal
from standfast.wiring.stores import without_password


async def check(memory: AsyncMemory, host: str, keeping: Keeping) -> None:
    """Invalid if others could connect and nobody has a key that works."""
    if not is_loopback(host) and not await keys.any_key_works(memory.engine):
        raise Invalid(
            f"{host} can be reached from other machines, and no key works; make one first: "
            f"{keeping.command('keys create --scope user:ann')} (or --right all for every scope), "
            "or listen on 127.0.0.1"
        )


async def admit(memory: AsyncMemory, settings: Settings) -> str:
    """The secret of the first key, or "" if there are keys, or if the operator brought one."""
    if given := _given(settings):
        await keys.ensure_key(memory.engine, given, name="admin", actor="serve")
        return ""
    if await keys.any_key_was_made(memory.engine):
        return ""
    _, secret = await keys.create_key(
        memory.engine, name=FIRST_KEY, rights=sorted(ALL_RIGHTS), actor="serve"
    )
    return secret


def _given(settings: Settings) -> str:
    """The admin key that the operator chose: by itself, or in a file such as a mounted secret."""
    if settings.admin_key or not settings.admin_key_file:
        return settings.admin_key.strip()
    try:
        return Path(settings.admin_key_file).expanduser().read_text("ascii").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise Invalid(f"STANDFAST_ADMIN_KEY_FILE: cannot read it: {error}") from None


@frozen(kw_only=False)
class Keeping:
    """Where a server keeps what it is told, and how others reach the same: the options that every
    other command needs."""

    file: Path | None
    space: str  # of its vectors; "" if it has none
    options: str = ""
    better: str = ""  # a local model that finds more than the one the store has
    server: str = ""  # the address of a database, without its password

    def told(self) -> str:
        if self.file is None and not self.server:
            return "Its memory is in this process only, and gone when it ends."
        how = "parts of them" if self.space.startswith("hashing/") else "by meaning"
        meaning = f" and {how} ({self.space})" if self.space else ""
        place = self.server or shown(self.file or Path())
        said = f"Its memory is {place}, searched by words{meaning}."
        if not self.better:
            return said
        move = self.command(f"--embedder {self.better}", "reembed")
        return f"{said} {self.better} finds more: {move}"

    def command(self, *words: str) -> str:
        return " ".join((program(), *filter(None, (self.options,)), *words))


def program() -> str:
    """What to type to run this program: its name, or where it is if the shell would not find it."""
    beside = Path(sys.executable).with_name("standfast")
    if shutil.which("standfast") or not beside.exists():
        return "standfast"
    near = beside.is_relative_to(Path.cwd())
    return shlex.quote(str(beside.relative_to(Path.cwd()) if near else beside))


def options_of(store: str | None, profile: str | None) -> str:
    """As they may be shown: a password is for whoever has it to fill in."""
    given = (("--store", without_password(store) if store else store), ("--profile", profile))
    return " ".join(f"{name} {shlex.quote(value)}" for name, value in given if value is not None)


def shown(file: Path) -> str:
    """As a person would write it."""
    home = Path.home()
    return f"~/{file.relative_to(home)}" if file.is_relative_to(home) else str(file)


def open_to_others(file: Path | None, *, own_folder: bool) -> Iterator[str]:
    """What other users of this machine could do with the file, if anything. ``own_folder``: it is
    ours alone, where nobody else has to look."""
    if file is None or os.name != "posix":
        return
    if file.stat().st_mode & 0o077:
        yield f"others on this machine may open {file}; close it: {_chmod('600', file)}"
    folder = file.absolute().parent
    mode = folder.stat().st_mode
    if mode & 0o022 and not mode & 0o1000:  # in a sticky folder nobody replaces others' files
        yield f"others may replace what is in {folder}; close it: {_chmod('700', folder)}"
    elif own_folder and mode & 0o077:
        yield f"others may look into {folder}; close it: {_chmod('700', folder)}"


def _chmod(mode: str, path: Path) -> str:
    return f"chmod {mode} {shlex.quote(str(path))}"


async def console_link(memory: AsyncMemory, address: str) -> str:
    """Where to look into it, with a new one-time code, in words. A terminal is shown the link; who
    keeps the output is told of a file that nobody else may read."""
    link = f"{address}/#code={await make_code(memory.engine)}"
    return link if sys.stdout.isatty() else f"the link is in {write_secret('console', link)}"


def _is_logged() -> bool:
    """Does what is printed stay in a file or in systemd's journal, for whoever may read that?"""
    try:
        out = os.fstat(sys.stdout.fileno())
        return is_journal(out.st_dev, out.st_ino) or stat.S_ISREG(out.st_mode)
    except (OSError, ValueError):
        return False


def greeting(address: str, secret: str, keeping: Keeping, look: str = "") -> Iterator[str]:
    """What the person who started it reads."""
    yield f"standfast listens on {address}"
    yield keeping.told()
    yield (
        f"Look into it: {look} (once, for ten minutes)"
        if look
        else (f"Look into it: {keeping.command('console')}")
    )
    for_others = keeping.command("keys create --scope user:ann")
    if not secret:
        yield f"Keys are shown once, when they are made. For another: {for_others}"
        yield f"Lost the admin key? {keeping.command('keys create --right all')}"
        return
    if _is_logged():
        place = write_secret("admin-key", secret)
        yield f"Your admin key, for every scope, is in {place}: keep it safe"
        yield "That file is deleted when the key is first used, or after a day."
        yield f"Make keys for others: {for_others}"
        return
    yield ""
    yield "Your admin key, for every scope. It is shown once; keep it safe:"
    yield ""
    yield f"    {secret}"
    yield ""
    yield "Connect with curl:"
    yield ""
    yield from _indented(curl_line(address, secret))
    yield ""
    yield "Connect an MCP client:"
    yield ""
    yield from _indented(mcp_configuration(address, secret))
    yield ""
    yield "Connect from Python:"
    yield ""
    yield python_snippet(address, secret)  # not indented: Python minds
    yield ""
    yield f"Make keys for others: {for_others}"


def curl_line(address: str, secret: str) -> str:
    return (
        f"curl {address}/v1/remember -H 'Authorization: Bearer {secret}' "
        """-H 'Content-Type: application/json' -d '{"text": "Deploys go out on Tuesdays"}'"""
    )


def mcp_configuration(address: str, secret: str) -> str:
    server = {
        "type": "http",
        "url": f"{address}/mcp",
        "headers": {"Authorization": f"Bearer {secret}"},
    }
    return json.dumps({"mcpServers": {"standfast": server}}, indent=2)


def python_snippet(address: str, secret: str) -> str:
    return "\n".join(
        (
            "from standfast import Memory",
            "",
            f'with Memory.connect("{address}", key="{secret}") as memory:',
            '    for hit in memory.recall("when do we deploy?").hits:',
            "        print(hit.record.text)",
        )
    )


def _indented(text: str) -> Iterator[str]:
    yield from (f"    {line}" if line else "" for line in text.split("\n"))
