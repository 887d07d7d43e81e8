"""Tables of a run, and whether standfast is as far ahead as it should be."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from bench.peers.peers import STANDFAST, Job, Way
from bench.report import Claim, Result, Table, mib, ms, number

AHEAD = 10.0
RECALL_SLACK = 0.005  # of recall@10: what two runs of an approximate index differ by
EMBEDDING_AHEAD = 1.5
LIMITS_MS = {("recall", 100_000): 15.0, ("embedding", 100_000): 40.0}

Done = Mapping[str, Any]
COLUMNS = (
    "program", "asked", "median", "p95", "recall@10", "exact top 10", "standfast is",
)  # fmt: skip
WRITTEN = ("program", "records/s in batches", "one durable write", "disk", "memory when asked")


def result(jobs: Sequence[Job], done: Mapping[str, Done]) -> Result:
    tables = [_settings(jobs, done)]
    for records, scopes in dict.fromkeys((job.records, job.scopes) for job in jobs):
        here = [job for job in jobs if (job.records, job.scopes) == (records, scopes)]
        title = f"{number(records)} records, " + (
            "one scope" if scopes == 1 else f"{scopes} scopes, one of them asked"
        )
        asked, written = list(_asked(here, done)), list(_written(here, done))
        if asked:
            tables.append(Table(f"Asking: {title}", COLUMNS, asked, _note(here, done)))
        if written:
            tables.append(Table(f"Writing: {title}", WRITTEN, written))
    embedding, claims = _embedding(done)
    return Result("peers", [*tables, *embedding], [*_claims(jobs, done), *claims])


def recorded(jobs: Sequence[Job], done: Mapping[str, Done]) -> dict[str, Any]:
    """The numbers behind the tables, in seconds, for ``bench.page``."""
    asked = [
        {**_about(job), "way": way.name, "asked": way.shown}
        | {name: found[name] for name in ("median", "p95", "recall", "exact")}
        for job in jobs
        for way in job.ways
        if (found := _way(job, way, done))
    ]
    written = [
        {**_about(job), "in_memory": job.peer.in_memory}
        | {"batch": found["writes_per_second"], "single": found["single"], "disk": found["disk"]}
        for job in jobs
        if "writes_per_second" in (found := done.get(job.key, {}))
    ]
    found = done.get("embedding", {})
    both = {name: found[name]["texts"] for name in ("ours", "plain")} if "ours" in found else {}
    return {"asked": asked, "written": written, "embedding": both}


def _about(job: Job) -> dict[str, Any]:
    return {
        "peer": job.peer.key,
        "program": job.peer.shown,
        "records": job.records,
        "scopes": job.scopes,
    }


def _settings(jobs: Sequence[Job], done: Mapping[str, Done]) -> Table:
    versions = {job.peer.key: done[job.key].get("version", "-") for job in jobs if job.key in done}
    peers = {job.peer.key: job.peer for job in jobs}
    rows = [(peer.shown, versions.get(key, "-"), peer.about) for key, peer in peers.items()]
    return Table("Who takes part", ("program", "version", "settings"), rows)


def _asked(jobs: Sequence[Job], done: Mapping[str, Done]) -> Iterator[tuple[str, ...]]:
    ours = _ours(jobs, done)
    for job in jobs:
        for way in job.ways:
            found = _way(job, way, done)
            if found:
                yield (
                    job.peer.shown,
                    way.shown,
                    ms(found["median"]),
                    ms(found["p95"]),
                    "-" if way.needs_model else f"{found['recall']:.3f}",
                    "-" if way.needs_model else f"{found['exact']:.3f}",
                    _ratio(job, found, ours),
                )


def _ratio(job: Job, found: Done, ours: Done | None) -> str:
    if ours is None or job.peer is STANDFAST:
        return ""
    return f"{found['median'] / ours['median']:.1f}x as fast"


def _ours(jobs: Sequence[Job], done: Mapping[str, Done]) -> Done | None:
    """The recall through the public interface."""
    for job in jobs:
        if job.peer is STANDFAST:
            return _way(job, STANDFAST.ways[0], done)
    return None


def _way(job: Job, way: Way, done: Mapping[str, Done]) -> Done | None:
    found: Done | None = done.get(job.key, {}).get("ways", {}).get(way.name)
    return found


def _note(jobs: Sequence[Job], done: Mapping[str, Done]) -> str:
    failed = [
        f"{job.peer.shown} was not measured: {done[job.key]['error']}."
        for job in jobs
        if "error" in done.get(job.key, {})
    ]
    left = [job.peer.shown for job in jobs if job.key not in done]
    if left:
        failed.append(f"Not measured for want of time: {', '.join(left)}.")
    return " ".join(failed)


def _written(jobs: Sequence[Job], done: Mapping[str, Done]) -> Iterator[tuple[str, ...]]:
    for job in jobs:
        found = done.get(job.key, {})
        if "writes_per_second" not in found:
            continue
        first = _way(job, job.ways[0], done)
        observed = found.get("observed_per_second")
        yield (
            job.peer.shown,
            number(found["writes_per_second"])
            + (f" (observe: {number(observed)})" if observed else ""),
            ms(found["single"]) + (" (not durable)" if job.peer.in_memory else ""),
            "in memory" if job.peer.in_memory else mib(found["disk"]),
            mib(first["memory"]) if first else "-",
        )


def _claims(jobs: Sequence[Job], done: Mapping[str, Done]) -> Iterator[Claim]:
    """At each peer's largest size, in one scope, against every way of asking it."""
    for job in jobs:
        largest = max(one.records for one in jobs if one.peer is job.peer)
        if job.scopes == 1 and job.records == largest and job.peer is not STANDFAST:
            ours = _way(Job(STANDFAST, job.records, 1), STANDFAST.ways[0], done)
            for way in job.ways:
                found = _way(job, way, done)
                if ours and found:
                    yield _ahead(job, way, found, ours)
    for (name, records), limit in LIMITS_MS.items():
        (way,) = (one for one in STANDFAST.ways if one.name == name)
        found = _way(Job(STANDFAST, records, 1), way, done)
        if found:
            what = f"{way.shown}, {number(records)} records"
            took = found["median"] * 1000
            yield Claim(what, f"{took:.1f} ms", f"under {limit:.0f} ms", took < limit)


def _ahead(job: Job, way: Way, found: Done, ours: Done) -> Claim:
    ratio = found["median"] / ours["median"]
    recall = f"recall@10 {ours['recall']:.3f} to {found['recall']:.3f}"
    good = ours["recall"] >= found["recall"] - RECALL_SLACK
    return Claim(
        f"{number(job.records)} records: recall beside {job.peer.shown}, {way.shown}",
        f"{ratio:.1f}x, {recall}",
        f"at least {AHEAD:.0f}x, recall@10 not lower",
        ratio >= AHEAD and good,
    )


def _embedding(done: Mapping[str, Done]) -> tuple[list[Table], list[Claim]]:
    found = done.get("embedding", {})
    if "ours" not in found:
        why = str(found.get("error", "")).replace(str(Path.home()), "~")  # for a page that is read
        return ([Table("Embedding", ("",), [(f"not measured: {why}",)])] if why else []), []
    rows = [
        (name, number(one["texts"]), number(one["tokens"]), ms(one["query"]))
        for name, one in (
            ("standfast, minilm (8-bit products)", found["ours"]),
            ("onnxruntime, the same weights in float32, batches of 8 or 32", found["plain"]),
        )
    ]
    ratio = found["ours"]["texts"] / found["plain"]["texts"]
    note = (
        f"{number(found['count'])} texts of {found['words']:.0f} words on average, the same for "
        f"both; {found['threads']} threads; cosine between the two vectors of a text: "
        f"{found['cosine']:.4f} on average, {found['cosine_min']:.4f} at worst."
    )
    columns = ("what", "texts/s", "tokens/s", "one question (median)")
    claim = Claim(
        "embedding beside a plain onnxruntime float32 loop",
        f"{ratio:.2f}x",
        f"at least {EMBEDDING_AHEAD:.2f}x",
        ratio >= EMBEDDING_AHEAD,
    )
    return [Table("Embedding", columns, rows, note)], [claim]
