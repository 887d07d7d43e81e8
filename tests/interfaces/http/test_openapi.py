"""The OpenAPI page tells the truth, and nothing that is sent to a route breaks it."""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import httpx2
import jsonschema
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.errors import Unsatisfiable
from schemathesis.generation import GenerationMode
from schemathesis.specs.openapi import checks

from standfast.interfaces.http import build_app
from standfast.settings import Settings
from tests.interfaces.http.conftest import ALL, Served, served

BODIES = "application/json"
LINES = "application/x-ndjson"
METHODS = {"get", "post", "put", "delete"}
EXAMPLES, EXAMPLES_PROVING = 4, 150

# Steers what is tried towards what gets through the first check; the rest is tried too.
SCOPE = r"^(user|org):[a-c]{1,2}(:(agent|project):[a-c])?$"
TIME = r"^20[0-9]{2}-(0[1-9]|1[0-2])-(0[1-9]|1[0-9]|2[0-8])T(0[0-9]|1[0-9]):[0-5][0-9]:[0-5][0-9]Z$"
TIMES = ("since", "until", "as_of", "known_at", "now", "valid_from", "valid_to", "expires_at")


@pytest.fixture(scope="module")
def page(server: Served) -> Any:
    return httpx2.get(f"{server.address}/openapi.json").json()


def operations(page: Any) -> Iterator[tuple[str, str, Any]]:
    for path, methods in page["paths"].items():
        for method, operation in methods.items():
            yield path, method, operation


def test_it_is_openapi_3_1_with_plain_names(page: Any) -> None:
    assert page["openapi"].startswith("3.1")
    names = [operation["operationId"] for _, _, operation in operations(page)]
    assert len(names) == len(set(names))
    assert {"remember", "recall", "observe", "context", "forget", "import", "export"} <= set(names)
    assert all(name.replace("_", "").isalpha() and name.islower() for name in names)
    assert all(method in METHODS for _, method, _ in operations(page))
    assert all(op["summary"] and op["description"] and op["tags"] for _, _, op in operations(page))


def test_every_status_is_described_as_a_problem(page: Any) -> None:
    for path, method, operation in operations(page):
        codes = set(operation["responses"])
        assert {"400", "401", "403", "404", "421", "429", "500", "503"} <= codes, path
        assert "422" not in codes
        if method != "get":
            assert {"408", "409", "413", "415"} <= codes, path
    assert "HTTPValidationError" not in page["components"]["schemas"]
    for answer in page["components"]["responses"].values():
        assert list(answer["content"]) == ["application/problem+json"]


def test_the_key_is_described_and_two_paths_are_open(page: Any) -> None:
    assert page["components"]["securitySchemes"]["key"] == {"type": "http", "scheme": "bearer"}
    assert page["security"] == [{"key": []}]
    free = {path for path, _, op in operations(page) if op.get("security") == []}
    assert free == {"/health"}


def resolved(page: Any, schema: Any) -> Any:
    return {**schema, "components": page["components"]}


def test_every_operation_has_examples_that_fit(page: Any) -> None:
    for path, method, operation in operations(page):
        if body := operation.get("requestBody"):
            for kind, content in body["content"].items():
                if kind != BODIES:
                    assert content["example"]
                    continue
                name = content["schema"]["$ref"].rpartition("/")[2]
                for said in page["components"]["schemas"][name]["examples"]:
                    jsonschema.validate(said, resolved(page, content["schema"]))
        good = next(answer for code, answer in operation["responses"].items() if code[0] == "2")
        for kind, content in good["content"].items():
            if kind == BODIES:
                jsonschema.validate(content["example"], resolved(page, content["schema"]))
        assert good["content"], (method, path)


def test_writes_take_an_idempotency_key(page: Any) -> None:
    for path, method, operation in operations(page):
        names = {one["name"] for one in operation.get("parameters", ())}
        receipt = operation["responses"].get("200", {}).get("content", {}).get(BODIES, {})
        if receipt.get("schema", {}).get("$ref", "").endswith("/Receipt"):
            assert "Idempotency-Key" in names, (method, path)
        if path != "/health":
            assert "X-Standfast-Device" in names, (method, path)


def test_the_examples_work_as_they_stand(page: Any, admin: httpx2.Client) -> None:
    """Sent as they are; what they name may be missing, but nothing about them is wrong."""
    for path, method, operation in operations(page):
        content = operation.get("requestBody", {}).get("content", {}).get(BODIES)
        if not content:
            continue
        name = content["schema"]["$ref"].rpartition("/")[2]
        for said in page["components"]["schemas"][name]["examples"]:
            answer = admin.request(method, path, json=said)
            assert answer.status_code in (200, 201, 202, 404), (path, answer.text)


# Anything at all


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    store = tmp_path_factory.mktemp("target") / "memory.db"
    app = build_app(str(store), embedder="hashing", settings=Settings(rate=0))
    with served(app) as running:
        running.key("admin", rights=ALL)
        running.key("ann", "user:a", rights=("read", "write", "erase"))
        with running.client("admin") as client:
            for scope in ("user:a", "user:a:project:a", "org:b"):
                client.post("/v1/remember", json={"text": f"known in {scope}", "scope": scope})
                client.post(
                    "/v1/observe", json={"session": "a", "messages": ["hi"], "scope": scope}
                )
        yield running


def steered(page: Any) -> Any:
    """The same page with scopes and times that may exist, so that routes get to work."""

    def mark(node: Any, pattern: str) -> None:
        if isinstance(node, dict):
            if node.get("type") == "string":
                node["pattern"] = pattern
                node.pop("maxLength", None)
            for part in node.values():
                mark(part, pattern)
        elif isinstance(node, list):
            for part in node:
                mark(part, pattern)

    page = copy.deepcopy(page)
    schemas = page["components"]["schemas"].values()
    for schema in (one for one in schemas if one.get("additionalProperties") is False):
        for name, part in schema.get("properties", {}).items():
            if name in ("scope", "scopes"):
                mark(part, SCOPE)
            if name in TIMES:
                mark(part, TIME)
    for _, _, operation in operations(page):
        for parameter in operation.get("parameters", ()):
            if parameter["name"] == "scope":
                mark(parameter["schema"], SCOPE)
            if parameter["name"] in TIMES:
                mark(parameter["schema"], TIME)
    return page


CHECKED = [
    schemathesis.checks.not_a_server_error,
    checks.status_code_conformance,
    checks.content_type_conformance,
    checks.response_headers_conformance,
    checks.response_schema_conformance,
]


def fuzz(target: Served, page: Any, key: str, mode: GenerationMode, examples: int) -> Counter[int]:
    """Every operation, with whatever comes to mind. What fails says how to send it again."""
    seen: Counter[int] = Counter()
    headers = {"Authorization": f"Bearer {target.keys[key]}"}
    for found in schemathesis.openapi.from_dict(page).get_all_operations():
        operation = found.ok()
        if LINES in str(operation.body):
            continue  # lines are not JSON: imports have tests of their own
        if operation.path.endswith("/stream"):
            continue  # it has no end: test_stream.py reads it
        with suppress(Unsatisfiable):  # nothing can be wrong about a question without words
            _fuzz_one(operation, target.address, headers, mode, examples, seen)()
    return seen


def _fuzz_one(
    operation: Any,
    address: str,
    headers: dict[str, str],
    mode: GenerationMode,
    examples: int,
    seen: Counter[int],
) -> Callable[[], None]:
    @given(case=operation.as_strategy(generation_mode=mode))
    @settings(
        max_examples=examples,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.explicit, Phase.generate],
    )
    def attempt(case: Any) -> None:
        for name in ("X-Standfast-Device", "Idempotency-Key"):  # nearly all would be refused
            (case.headers or {}).pop(name, None)
        answer = case.call(base_url=address, headers=headers)
        seen[answer.status_code] += 1
        case.validate_response(answer, checks=CHECKED)

    found: Callable[[], None] = attempt
    return found


@pytest.mark.parametrize("key", ["admin", "ann"])
def test_X3_whatever_fits_the_page_is_answered_as_the_page_says(
    target: Served, page: Any, key: str, proving: bool
) -> None:
    examples = EXAMPLES_PROVING if proving else EXAMPLES
    seen = fuzz(target, steered(page), key, GenerationMode.POSITIVE, examples)
    assert seen[200] > seen.total() / 5, seen
    assert not any(code >= 500 for code in seen)


def test_X3_whatever_does_not_fit_is_refused_as_the_page_says(
    target: Served, page: Any, proving: bool
) -> None:
    examples = EXAMPLES_PROVING if proving else EXAMPLES
    seen = fuzz(target, page, "admin", GenerationMode.NEGATIVE, examples)
    assert seen[400] > seen.total() / 5, seen
    assert not any(code >= 500 for code in seen)
