"""A real server, and a client that shows everything it was told, headers too."""

from __future__ import annotations

import json
from typing import Any

import httpx2

from tests.tenancy.surfaces import Call, Said

LISTS = "records relations sessions messages summaries pending changes usage due stats scopes"
GET = frozenset((*LISTS.split(), "policies", "review", "history"))
LONG = {"maintain": "/v1/maintain", "export_to": "/v1/export", "reembed": "/v1/reembed"}
LINES = {"Content-Type": "application/x-ndjson"}
DULL_HEADERS = frozenset(("date", "content-length", "server"))


class Http:
    def __init__(self, url: str, key: str, **headers: str) -> None:
        sent = {"Authorization": f"Bearer {key}", **headers}
        self.client = httpx2.Client(base_url=url, headers=sent, timeout=60)

    def ask(self, asked: Call) -> Said:
        given = {name: value for name, value in asked.arguments.items() if value is not None}
        if asked.verb == "import_from":
            begun = self.client.post("/v1/import", content=given["lines"], headers=LINES)
            return self._finished(begun)
        if asked.verb in LONG:
            return self._finished(self.client.post(LONG[asked.verb], json=given))
        if asked.verb in GET:
            return said(self.client.get(f"/v1/{asked.verb}", params=given))
        return said(self.client.post(f"/v1/{asked.verb}", json=given))

    def _finished(self, begun: httpx2.Response) -> Said:
        """All that is said until the work is over, and the file it wrote."""
        if begun.status_code != 202:
            return said(begun)
        where = begun.headers["location"]
        job: dict[str, Any] = begun.json()
        while job["state"] == "running":
            job = self.client.get(where, params={"wait": 5}).json()
        told = f"{said(begun).text}\n{json.dumps(job, ensure_ascii=False)}"
        if job["file"]:
            told += said(self.client.get(job["file"])).text
        return Said(job["state"] == "done", told)

    def close(self) -> None:
        self.client.close()


def said(response: httpx2.Response) -> Said:
    headers = [f"{k}: {v}" for k, v in response.headers.items() if k.lower() not in DULL_HEADERS]
    told = "\n".join([str(response.status_code), *sorted(headers), response.text])
    return Said(response.is_success, told)
