"""What a coding agent runs at each event of a session: a few requests to the server that runs.

Run by its path, without the package around it, because somebody waits for every event: it imports
the standard library only, and of that what it needs. It never stops an agent: whatever goes wrong,
it ends with 0 and says nothing.

The server is found by a small file that ``standfast serve`` writes, with its address and a key.
"""

from __future__ import annotations

import json
import os
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:  # importing typing takes longer than all the rest
    from typing import Any

    Event = dict[str, Any]

FILE = "server.json"
EVENT_BYTES_MAX = 32 << 20
PROMPT_LENGTH_MAX = 100_000
RESULT_LENGTH_MAX = 4_000
VALUE_LENGTH_MAX = 1_000
TAIL_BYTES = 512 << 10
PACKET_TOKENS = 1_500
LINES_AFTER_COMPACTION = 8
LINE_LENGTH_MAX = 400
ID_LENGTH_MAX = 240
SECONDS_MAX = 3.0
START_SECONDS = 6.0
CHANNEL = "claude-code"


def main() -> int:
    """One event on standard input; what the agent is to know of it on standard output."""
    try:
        event = json.loads(sys.stdin.buffer.read(EVENT_BYTES_MAX))
        said = answer_to(event, sys.argv[1:])
        if said:
            sys.stdout.write(json.dumps(said))
            sys.stdout.flush()
    except Exception:  # nothing that a memory does is worth an agent's stop
        return 0
    return 0


def answer_to(event: Event, arguments: list[str]) -> Event | None:
    """What to tell the agent; None: nothing."""
    name = event["hook_event_name"]
    server = HookServer.found()
    if server is None and name == "SessionStart" and "--start" in arguments:
        server = started(arguments)
    if server is None:
        return None
    scope = scope_of(event, server.scope)
    session = event["session_id"]
    if name == "SessionStart":
        return _greeting(server, event, scope, session)
    messages = _messages(name, event)
    if messages:
        body = {"session": session, "messages": messages, "scope": scope, "channel": CHANNEL}
        server.ask("/v1/observe", body)
    if name == "SessionEnd":
        server.ask("/v1/end", {"session": session, "scope": scope})
    return None


class HookServer:
    """The one that runs on this machine."""

    def __init__(self, told: Event) -> None:
        self.scope = told["scope"]
        self._key = told["key"]
        self._host, _, port = told["address"].removeprefix("http://").rpartition(":")
        self._port = int(port)

    @classmethod
    def found(cls) -> HookServer | None:
        """None if none runs. Its process must be there: to whoever took its port since, the key
        is not shown."""
        try:
            with open(server_file(), encoding="utf-8") as file:
                told = json.load(file)
            if not told.get("address"):
                return None
            if os.name == "posix":
                os.kill(told["pid"], 0)
            return cls(told)
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def ask(self, path: str, body: Event) -> Event | None:
        """Its answer; None if it has none."""
        from http.client import HTTPConnection, HTTPException

        connection = HTTPConnection(self._host.strip("[]"), self._port, timeout=SECONDS_MAX)
        headers = {"Authorization": f"Bearer {self._key}", "Content-Type": "application/json"}
        try:
            connection.request("POST", path, json.dumps(body), headers)
            response = connection.getresponse()
            found = response.read()
            return json.loads(found) if response.status == 200 else None
        except (OSError, HTTPException, ValueError):
            return None
        finally:
            connection.close()


def server_file() -> str:
    return os.path.join(runtime_folder(), FILE)


def runtime_folder() -> str:
    """Where a running server says that it runs: below the user's data folder."""
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or "~/AppData/Local"
    elif sys.platform == "darwin":
        base = "~/Library/Application Support"
    else:
        base = os.environ.get("XDG_DATA_HOME") or "~/.local/share"
    return os.path.join(os.path.expanduser(base), "standfast", "run")


def started(arguments: list[str]) -> HookServer | None:
    """A server that the user allowed to start; None if it takes too long. Of several sessions
    that begin together one starts it."""
    folder = runtime_folder()
    os.makedirs(folder, mode=0o700, exist_ok=True)
    mark = os.path.join(folder, "starting")
    try:
        if time.time() - os.stat(mark).st_mtime > 10 * START_SECONDS:
            os.remove(mark)
    except OSError:
        pass
    try:
        os.close(os.open(mark, os.O_CREAT | os.O_EXCL, 0o600))
    except FileExistsError:
        return _awaited()
    try:
        _spawn(arguments)
        return _awaited()
    finally:
        os.remove(mark)


def _spawn(arguments: list[str]) -> None:
    import subprocess

    store = arguments[arguments.index("--store") + 1 :][:1] if "--store" in arguments else []
    command = [sys.executable, "-m", "standfast.interfaces.cli", "serve", "--port", "0"]
    nowhere = subprocess.DEVNULL
    subprocess.Popen(
        [*command, *(("--store", *store) if store else ())],
        stdin=nowhere,
        stdout=nowhere,
        stderr=nowhere,
        start_new_session=True,
        cwd=os.path.expanduser("~"),
    )


def _awaited() -> HookServer | None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        if (server := HookServer.found()) is not None:
            return server
        time.sleep(0.05)
    return None


# What is observed


def _messages(name: str, event: Event) -> list[Event]:
    if name == "UserPromptSubmit":
        return [{"role": "user", "content": event["prompt"][:PROMPT_LENGTH_MAX]}]
    if name == "PostToolUse":
        return _tool_use(event)
    if name in ("Stop", "PreCompact", "SessionEnd"):
        said = _last_said(event)
        return [said] if said else []
    return []


def _tool_use(event: Event) -> list[Event]:
    """The call and its result, as the model's own interface writes them."""
    id_ = event.get("tool_use_id") or f"call-{time.time_ns()}"
    given = event.get("tool_input")
    call = {
        "type": "tool_use",
        "id": id_,
        "name": event["tool_name"],
        "input": _shortened(given) if isinstance(given, dict) else {},
    }
    result = event.get("tool_response")
    text = result if isinstance(result, str) else json.dumps(_shortened(result), ensure_ascii=False)
    answer = {"type": "tool_result", "tool_use_id": id_, "content": text[:RESULT_LENGTH_MAX]}
    return [
        {"id": id_, "role": "assistant", "content": [call]},
        {"id": f"{id_}-result", "role": "user", "content": [answer]},
    ]


def _shortened(value: object) -> object:
    if isinstance(value, str):
        return value[:VALUE_LENGTH_MAX]
    if isinstance(value, dict):
        return {name: _shortened(one) for name, one in value.items()}
    if isinstance(value, list):
        return [_shortened(one) for one in value[:20]]
    return value


def _last_said(event: Event) -> Event | None:
    """The agent's last words, by the name that its own log has for them: the same ones at two
    events are kept once."""
    for line in reversed(_tail(event.get("transcript_path"))):
        try:
            entry = json.loads(line)
        except ValueError:
            continue
        if entry.get("type") != "assistant" or entry.get("isSidechain"):
            continue
        text = _text_of(entry.get("message", {}).get("content"))
        if text:
            return {"id": entry["uuid"], "role": "assistant", "content": text}
    words = event.get("last_assistant_message")
    return {"role": "assistant", "content": words[:PROMPT_LENGTH_MAX]} if words else None


def _tail(path: str | None) -> list[bytes]:
    if not path:
        return []
    try:
        with open(os.path.expanduser(path), "rb") as file:
            file.seek(max(0, os.fstat(file.fileno()).st_size - TAIL_BYTES))
            return file.read().splitlines()
    except OSError:
        return []


def _text_of(content: object) -> str:
    if isinstance(content, str):
        return content[:PROMPT_LENGTH_MAX]
    parts = content if isinstance(content, list) else []
    said = [part.get("text", "") for part in parts if part.get("type") == "text"]
    return "\n".join(said).strip()[:PROMPT_LENGTH_MAX]


# What is brought


def _greeting(server: HookServer, event: Event, scope: str, session: str) -> Event | None:
    body: dict[str, object] = {"scope": scope, "session": session, "tokens": PACKET_TOKENS}
    packet = server.ask("/v1/context", body)
    if packet is None:
        return None
    text = packet["text"]
    if event.get("source") == "compact":
        text = "\n\n".join(filter(None, (text, _before_compaction(packet.get("messages") or []))))
    if not text.strip():
        return None
    return {"hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": text}}


def _before_compaction(messages: list[Event]) -> str:
    """The newest words of this session, which compaction may have dropped."""
    said = [
        f"> {message.get('role')}: {' '.join(text.split())[:LINE_LENGTH_MAX]}"
        for message in messages
        if (text := _text_of(message.get("content")))
    ]
    if not said:
        return ""
    return "\n".join(("Said last in this session:", *said[-LINES_AFTER_COMPACTION:]))


# Which project it is


def scope_of(event: Event, base: str) -> str:
    folder = os.environ.get("CLAUDE_PROJECT_DIR") or event.get("cwd") or os.getcwd()
    return f"{base}:project:{_encoded(project_of(folder))}"


def project_of(folder: str) -> str:
    """Its repository as ``host/owner/name``, the same for every clone; or the folder."""
    here = os.path.realpath(folder)
    top = here
    while True:
        git = os.path.join(top, ".git")
        if os.path.exists(git):
            return _remote(git) or _shown(top)
        above = os.path.dirname(top)
        if above == top:
            return _shown(here)
        top = above


def _remote(git: str) -> str:
    """The address of ``origin``, or of the only remote, without who asks for it; "" if none."""
    try:
        with open(os.path.join(_git_folder(git), "config"), encoding="utf-8") as file:
            lines = file.read().splitlines()
    except (OSError, ValueError):
        return ""
    remotes: dict[str, str] = {}
    section = ""
    for line in map(str.strip, lines):
        if line.startswith("["):
            section = line.split('"')[1] if line.startswith('[remote "') else ""
        elif section and line.partition("=")[0].strip() == "url":
            remotes.setdefault(section, line.partition("=")[2].strip())
    url = remotes.get("origin") or (next(iter(remotes.values())) if len(remotes) == 1 else "")
    return _address(url)


def _git_folder(git: str) -> str:
    """A work tree or a submodule has a file that says where its folder is."""
    if os.path.isdir(git):
        return git
    with open(git, encoding="utf-8") as file:
        named = file.read().partition("gitdir:")[2].strip()
    folder = os.path.join(os.path.dirname(git), named)
    try:
        with open(os.path.join(folder, "commondir"), encoding="utf-8") as file:
            return os.path.join(folder, file.read().strip())
    except OSError:
        return folder


def _address(url: str) -> str:
    """``git@host:owner/name.git`` and ``https://who:secret@host/owner/name`` are one project."""
    scheme, there, rest = url.partition("://")
    if scheme == "file" or not url or url.startswith((".", "/", "~")):
        return ""  # another folder of this machine: no name that others know
    if not there:
        rest = url.replace(":", "/", 1)
    host, _, path = rest.rpartition("@")[2].partition("/")
    host = host.partition(":")[0].lower()
    path = path.strip("/").removesuffix(".git").strip("/")
    return f"{host}/{path}" if host and path else ""


def _shown(folder: str) -> str:
    home = os.path.realpath(os.path.expanduser("~"))
    return "~" + folder[len(home) :] if folder.startswith(home + os.sep) else folder


def _encoded(name: str) -> str:
    """As an id in a scope is written; a long name keeps its end, where the difference is."""
    import unicodedata

    plain = "".join(
        c for c in name if unicodedata.category(c)[0] != "C" and c not in "\u2028\u2029"
    )
    encoded = plain.strip().replace("%", "%25").replace(":", "%3A") or "nameless"
    if len(encoded) > ID_LENGTH_MAX:
        import hashlib

        digest = hashlib.sha256(encoded.encode()).hexdigest()[:16]
        return f"{digest} {plain[-100:].replace('%', '').replace(':', '').strip()}"
    return encoded


if __name__ == "__main__":
    sys.exit(main())
