"""A model server for tests: real HTTP on the loopback, every answer scripted, good and bad.

It speaks the dialects of OpenAI (and so of Ollama and all compatible servers), Anthropic and
Gemini as far as a client needs them for one question and one answer, and embeds texts in those of
OpenAI, Gemini and Ollama.

    with ScriptedServer() as server:
        server.script(too_many(retry_after=2), says_json({"summary": "tea"}))
        ...                        # the first request gets status 429, the second the summary
        server.requests[0].user    # what was asked
"""

from __future__ import annotations

import json
import socket
import struct
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Literal

from standfast.models.providers.hashing import HashingEmbedder
from standfast.types.frozen import frozen

DRIP_SECONDS = 0.05
HUGE_BYTES = 10 << 20

Dialect = Literal["openai", "anthropic", "google", "ollama"]
# How the bytes go out: at once, one by one, never, or as a connection that breaks.
Manner = Literal["whole", "drip", "hang", "reset"]


@frozen
class ScriptedQuestion:
    """A request as it arrived."""

    dialect: Dialect
    path: str
    headers: Mapping[str, str]  # names in lower case
    body: Any
    system: str = ""
    user: str = ""
    schema: Mapping[str, Any] | None = None
    texts: tuple[str, ...] = ()  # to be embedded
    dimensions: int | None = None  # asked for


@frozen
class ScriptedAnswer:
    """What to send back. ``raw`` goes out as it is; else ``vectors`` or ``text`` in the asker's
    dialect."""

    text: str | None = ""
    vectors: Sequence[Sequence[float]] | None = None
    status: int = 200
    raw: bytes | None = None
    content_type: str = "application/json"
    headers: Mapping[str, str] = field(default_factory=dict)
    usage: tuple[int, int] | None = (100, 20)
    finish: Literal["stop", "length"] = "stop"
    manner: Manner = "whole"


Behaviour = ScriptedAnswer | Callable[[ScriptedQuestion], ScriptedAnswer]

# Well-behaved


def says(text: str, *, usage: tuple[int, int] | None = (100, 20)) -> ScriptedAnswer:
    return ScriptedAnswer(text=text, usage=usage)


def says_json(value: Any, *, usage: tuple[int, int] | None = (100, 20)) -> ScriptedAnswer:
    return ScriptedAnswer(text=json.dumps(value, ensure_ascii=False), usage=usage)


def summarises(words: int = 40) -> Callable[[ScriptedQuestion], ScriptedAnswer]:
    """A rule in place of a model: the first words of what it was asked are the summary."""

    def rule(asked: ScriptedQuestion) -> ScriptedAnswer:
        summary = " ".join(asked.user.split()[:words])
        return says_json({"summary": summary}, usage=(len(asked.user) // 4, len(summary) // 4))

    return rule


def embeds(dimensions: int = 1536) -> Callable[[ScriptedQuestion], ScriptedAnswer]:
    """Vectors in place of an embedding model's: alike where texts share words, and not of length
    1, as Gemini's are. Of the size that was asked for, else of this one."""

    def rule(asked: ScriptedQuestion) -> ScriptedAnswer:
        embedder = HashingEmbedder(asked.dimensions or dimensions)
        # A model that wants a word in front of a text does not mean that word.
        bare = [text.split(": ")[-1] if ": " in text[:20] else text for text in asked.texts]
        vectors = [[3.0 * number for number in embedder.vector(text)] for text in bare]
        return ScriptedAnswer(vectors=vectors, usage=(7 * len(asked.texts), 0))

    return rule


def embeds_alike(*vectors: Sequence[float]) -> ScriptedAnswer:
    """These vectors, whatever was asked."""
    return ScriptedAnswer(vectors=vectors)


# Badly behaved


def fenced(value: Any) -> ScriptedAnswer:
    return ScriptedAnswer(text=f"```json\n{json.dumps(value, indent=2)}\n```")


def prose() -> ScriptedAnswer:
    return ScriptedAnswer(text="Of course! The user talked about tea, and then about trains.")


def cut_off() -> ScriptedAnswer:
    return ScriptedAnswer(text='{"summary": "The user asked for', finish="length")


def says_nothing() -> ScriptedAnswer:
    return ScriptedAnswer(text="")


def says_null() -> ScriptedAnswer:
    """A well-formed completion whose content is null."""
    return ScriptedAnswer(text=None)


def null_body() -> ScriptedAnswer:
    return ScriptedAnswer(raw=b"null")


def empty_body() -> ScriptedAnswer:
    return ScriptedAnswer(raw=b"")


def half_body() -> ScriptedAnswer:
    return ScriptedAnswer(raw=b'{"id": "1", "choices": [{"mess')


def not_utf8() -> ScriptedAnswer:
    return ScriptedAnswer(raw=b'{"choices": [{"message": {"content": "\xff\xfe\xc3"}}]}')


def wrong_type() -> ScriptedAnswer:
    return ScriptedAnswer(raw=b"all is well", content_type="text/plain")


def html_page(status: int = 502) -> ScriptedAnswer:
    page = b"<html><body><h1>Bad gateway</h1></body></html>"
    return ScriptedAnswer(raw=page, status=status, content_type="text/html")


def huge() -> ScriptedAnswer:
    return ScriptedAnswer(text="x" * HUGE_BYTES)


def fails(status: int = 500, message: str = "something broke") -> ScriptedAnswer:
    """An error the way providers tell of one."""
    told = {"error": {"message": message, "type": "scripted", "code": None}}
    return ScriptedAnswer(raw=json.dumps(told).encode(), status=status)


def too_many(retry_after: float | None = None) -> ScriptedAnswer:
    headers = {} if retry_after is None else {"Retry-After": f"{retry_after:g}"}
    told = {"error": {"message": "slow down", "type": "rate_limit_exceeded"}}
    return ScriptedAnswer(raw=json.dumps(told).encode(), status=429, headers=headers)


def hangs() -> ScriptedAnswer:
    return ScriptedAnswer(manner="hang")


def drips(text: str = "a very slow answer") -> ScriptedAnswer:
    return ScriptedAnswer(text=text, manner="drip")


def resets() -> ScriptedAnswer:
    return ScriptedAnswer(manner="reset")


class ScriptedServer:
    """Answers each request with the next behaviour of the script, then with ``otherwise``."""

    def __init__(self, otherwise: Behaviour | None = None) -> None:
        self.otherwise: Behaviour = otherwise or fails(599, "the script has ended")
        self.requests: list[ScriptedQuestion] = []
        self.stopping = threading.Event()
        self._script: list[Behaviour] = []
        self._lock = threading.Lock()
        self._http = _Server(self)
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True)

    def __enter__(self) -> ScriptedServer:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stopping.set()
        self._http.shutdown()
        self._thread.join()
        self._http.server_close()

    @property
    def address(self) -> str:
        """Of Anthropic's and Gemini's dialect; OpenAI's is ``url``."""
        return f"http://127.0.0.1:{self._http.server_address[1]}"

    @property
    def url(self) -> str:
        return f"{self.address}/v1"

    def script(self, *behaviours: Behaviour) -> None:
        """Add to the script."""
        with self._lock:
            self._script += behaviours

    def answer(self, asked: ScriptedQuestion) -> ScriptedAnswer:
        with self._lock:
            self.requests.append(asked)
            behaviour = self._script.pop(0) if self._script else self.otherwise
        return behaviour if isinstance(behaviour, ScriptedAnswer) else behaviour(asked)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = True

    def __init__(self, owner: ScriptedServer) -> None:
        self.owner = owner
        super().__init__(("127.0.0.1", 0), _Handler)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that hangs up in the middle is what many tests are about."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def do_POST(self) -> None:
        self.close_connection = True
        length = int(self.headers.get("Content-Length") or 0)
        asked = _asked(self.path, dict(self.headers.items()), self.rfile.read(length))
        answer = self.server.owner.answer(asked)
        if answer.manner == "hang":
            self.server.owner.stopping.wait()
        elif answer.manner == "reset":
            self._reset()
        else:
            self._send(answer, *_body(asked, answer))

    def _reset(self) -> None:
        """Closing with a linger time of 0 sends RST instead of a polite goodbye."""
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.connection.close()

    def _send(self, answer: ScriptedAnswer, body: bytes, content_type: str) -> None:
        self.send_response(answer.status)
        for name, value in answer.headers.items():
            self.send_header(name, value)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Connection", "close")
        self.end_headers()
        if answer.manner == "whole":
            self.wfile.write(body)
            return
        for position in range(len(body)):
            if self.server.owner.stopping.wait(DRIP_SECONDS):
                return
            self.wfile.write(body[position : position + 1])

    def log_message(self, format: str, *args: Any) -> None:
        """Tests read ``requests``; nobody reads the terminal."""


# Dialects


def _asked(path: str, headers: Mapping[str, str], raw: bytes) -> ScriptedQuestion:
    asked = ScriptedQuestion(
        dialect=_dialect(path),
        path=path,
        headers={name.lower(): value for name, value in headers.items()},
        body=json.loads(raw or b"null"),
    )
    if _is_embedding(path):
        texts, dimensions = _texts_to_embed(asked.body)
        return replace(asked, texts=texts, dimensions=dimensions)
    system, user, schema = _READERS[asked.dialect](asked.body)
    return replace(asked, system=system, user=user, schema=schema)


_Read = tuple[str, str, Mapping[str, Any] | None]


def _texts(content: Any) -> str:
    """Text out of the many shapes that content takes."""
    if isinstance(content, str):
        return content
    if isinstance(content, Mapping):
        return _texts(content.get("text") or content.get("parts") or content.get("content") or "")
    return "\n".join(_texts(part) for part in content or ())


def _read_openai(body: Any) -> _Read:
    messages = body["messages"]
    system = [_texts(m["content"]) for m in messages if m["role"] in ("system", "developer")]
    user = [_texts(m["content"]) for m in messages if m["role"] == "user"]
    wanted = (body.get("response_format") or {}).get("json_schema") or {}
    return "\n".join(system), "\n".join(user), wanted.get("schema")


def _read_anthropic(body: Any) -> _Read:
    wanted = (body.get("output_config") or {}).get("format") or body.get("output_format") or {}
    return _texts(body.get("system")), _texts(body["messages"]), wanted.get("schema")


def _read_google(body: Any) -> _Read:
    wanted = body.get("generationConfig") or {}
    schema = wanted.get("responseJsonSchema") or wanted.get("responseSchema")
    return _texts(body.get("systemInstruction")), _texts(body["contents"]), schema


def _texts_to_embed(body: Any) -> tuple[tuple[str, ...], int | None]:
    if "requests" in body:
        texts = tuple(_texts(request["content"]) for request in body["requests"])
        return texts, body["requests"][0].get("outputDimensionality")
    texts = (body["input"],) if isinstance(body["input"], str) else tuple(body["input"])
    return texts, body.get("dimensions")


_READERS: Mapping[Dialect, Callable[[Any], _Read]] = {
    "openai": _read_openai,
    "anthropic": _read_anthropic,
    "google": _read_google,
}


def _is_embedding(path: str) -> bool:
    return path.endswith(("/embeddings", "/api/embed", ":batchEmbedContents"))


def _dialect(path: str) -> Dialect:
    if _is_embedding(path):
        return "ollama" if "/api/" in path else "google" if ":" in path else "openai"
    if path.partition("?")[0].endswith("/messages"):
        return "anthropic"
    return "google" if "generatecontent" in path.lower() else "openai"


def _body(asked: ScriptedQuestion, answer: ScriptedAnswer) -> tuple[bytes, str]:
    if answer.raw is not None:
        return answer.raw, answer.content_type
    if answer.vectors is not None:
        return json.dumps(_say_vectors(asked, answer)).encode(), answer.content_type
    if asked.dialect == "anthropic":
        return _say_anthropic(asked, answer)
    say = _say_google if asked.dialect == "google" else _say_openai
    return json.dumps(say(asked, answer)).encode(), answer.content_type


def _say_vectors(asked: ScriptedQuestion, answer: ScriptedAnswer) -> dict[str, Any]:
    vectors = list(answer.vectors or ())
    tokens, _ = answer.usage or (0, 0)
    if asked.dialect == "ollama":
        return {
            "model": asked.body["model"],
            "embeddings": vectors,
            "total_duration": 14_000_000,
            "load_duration": 1_000_000,
            "prompt_eval_count": tokens,
        }
    if asked.dialect == "google":
        return {"embeddings": [{"values": vector} for vector in vectors]}
    data = [
        {"object": "embedding", "index": index, "embedding": vector}
        for index, vector in enumerate(vectors)
    ]
    said = {"object": "list", "data": data[::-1], "model": asked.body["model"]}
    if answer.usage is not None:
        said["usage"] = {"prompt_tokens": tokens, "total_tokens": tokens}
    return said


def _say_openai(asked: ScriptedQuestion, answer: ScriptedAnswer) -> dict[str, Any]:
    said: dict[str, Any] = {
        "id": "scripted-1",
        "object": "chat.completion",
        "created": 1,
        "model": asked.body.get("model", "scripted"),
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": answer.text},
                "finish_reason": answer.finish,
            }
        ],
    }
    if answer.usage is not None:
        tokens_in, tokens_out = answer.usage
        said["usage"] = {
            "prompt_tokens": tokens_in,
            "completion_tokens": tokens_out,
            "total_tokens": tokens_in + tokens_out,
        }
    return said


def _say_google(asked: ScriptedQuestion, answer: ScriptedAnswer) -> dict[str, Any]:
    tokens_in, tokens_out = answer.usage or (0, 0)
    return {
        "candidates": [
            {
                "content": {"role": "model", "parts": [{"text": answer.text or ""}]},
                "finishReason": "STOP" if answer.finish == "stop" else "MAX_TOKENS",
            }
        ],
        "usageMetadata": {"promptTokenCount": tokens_in, "candidatesTokenCount": tokens_out},
        "modelVersion": asked.path.rpartition("/")[2].partition(":")[0],
    }


def _say_anthropic(asked: ScriptedQuestion, answer: ScriptedAnswer) -> tuple[bytes, str]:
    """Whole, or as a stream of events where the client asked for one."""
    tokens_in, tokens_out = answer.usage or (0, 0)
    stop = "end_turn" if answer.finish == "stop" else "max_tokens"
    block = {"type": "text", "text": answer.text or ""}
    message: dict[str, Any] = {
        "id": "msg_scripted",
        "type": "message",
        "role": "assistant",
        "model": asked.body.get("model", "scripted"),
        "content": [block],
        "stop_reason": stop,
        "stop_sequence": None,
        "usage": {"input_tokens": tokens_in, "output_tokens": tokens_out},
    }
    if not asked.body.get("stream"):
        return json.dumps(message).encode(), answer.content_type
    started = {**message, "content": [], "stop_reason": None}
    delta = {"type": "text_delta", "text": answer.text or ""}
    events: list[dict[str, Any]] = [
        {"type": "message_start", "message": started},
        {"type": "content_block_start", "index": 0, "content_block": {**block, "text": ""}},
        {"type": "content_block_delta", "index": 0, "delta": delta},
        {"type": "content_block_stop", "index": 0},
        {
            "type": "message_delta",
            "delta": {"stop_reason": stop, "stop_sequence": None},
            "usage": {"output_tokens": tokens_out},
        },
        {"type": "message_stop"},
    ]
    lines = [f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events]
    return "".join(lines).encode(), "text/event-stream"
