"""The console over 100,000 records: how soon it is there, how soon it answers. What a busy machine
makes of it is printed, not asserted; that every screen works is asserted."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from standfast.types import Batch, Record
from tests.console.world import SCREENS, Console
from tests.serving import Served, served

pytestmark = pytest.mark.proof

MANY = 100_000
BATCH = 1000
SCOPE = "org:many"
SUBJECTS = ("lorry", "ship", "crane", "harbour", "warehouse", "invoice", "pipeline", "sensor")


def record(number: int, now: datetime) -> Record:
    subject = SUBJECTS[number % len(SUBJECTS)]
    return Record(
        id=f"{number:012d}",
        scope=f"{SCOPE}:project:p{number % 40}",
        kind="semantic",
        type="fact",
        text=f"The {subject} number {number} came to gate {number % 977} with {number % 31} crates",
        learned_at=now - timedelta(minutes=MANY - number),
        hash=f"{number:032x}",
    )


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    store = str(tmp_path_factory.mktemp("many") / "memory.db")
    with served(store, embedder="none") as running:

        async def fill(engine: Any) -> None:
            now = datetime.now(UTC)
            for first in range(0, MANY, BATCH):
                records = tuple(record(first + n, now) for n in range(BATCH))
                batch = Batch(
                    id=f"b{first}", root=SCOPE, at=now, reason="import", change=f"c{first}",
                    records=records,
                )  # fmt: skip
                await engine.store.commit(batch)

        running.run(fill)
        yield running


def painted(page: Console) -> float:
    """Milliseconds from the address to the first paint of the page."""
    found: float = page.page.evaluate(
        "() => performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? -1"
    )
    return found


def answered(page: Console, act: str) -> float:
    """Milliseconds until the page has drawn what a key or a scroll does."""
    found: float = page.page.evaluate(
        "async () => { const rows = document.querySelector('.rows');"
        f" const begun = performance.now(); {act};"
        " await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));"
        " return performance.now() - begun; }"
    )
    return found


def test_X15_a_hundred_thousand_records_scroll(
    browser: Any, server: Served, capsys: pytest.CaptureFixture[str]
) -> None:
    key = server.key()
    context = browser.new_context()
    page = Console(context, server.url).log_in(key)
    first_paint = painted(page)
    page.open("memories")
    page.page.get_by_text("100,000 records").wait_for(timeout=60_000)
    page.page.locator(".row .said").first.wait_for()
    assert page.page.locator(".row").count() < 80, "only what can be seen is in the page"
    down = "rows.dispatchEvent(new KeyboardEvent('keydown', {key: 'j', bubbles: true}))"
    keys = sorted(answered(page, down) for _ in range(30))
    steps = sorted(answered(page, "rows.scrollTop += 700") for _ in range(30))
    jump = answered(page, "rows.scrollTop = rows.scrollHeight / 2")
    page.page.locator(".row .said", has_text="number 50").first.wait_for(timeout=120_000)
    with capsys.disabled():
        print(
            f"\nconsole, {MANY:,} records: first paint {first_paint:.0f} ms; a key "
            f"{keys[15]:.0f} ms (worst {keys[-1]:.0f}); a scroll {steps[15]:.0f} ms (worst "
            f"{steps[-1]:.0f}); a jump to the middle {jump:.0f} ms"
        )
    page.assert_clean()
    context.close()


def test_X15_every_screen_works_with_a_hundred_thousand_records(
    browser: Any, server: Served, capsys: pytest.CaptureFixture[str]
) -> None:
    context = browser.new_context()
    page = Console(context, server.url).log_in(server.key())
    page.page.set_default_timeout(60_000)
    views = {screen: ("", {}) for screen in SCREENS} | {
        "recall": ("", {"q": "crates at gate 12", "scope": f"{SCOPE}:project:p7"}),
        "packet": ("", {"q": "crates at gate 12", "scope": f"{SCOPE}:project:p7"}),
        "changes": ("", {"scope": SCOPE}),
    }
    times = {}
    for screen, (id_, params) in views.items():
        begun = page.page.evaluate("() => performance.now()")
        page.open(screen, id_, **params)
        times[screen] = page.page.evaluate("() => performance.now()") - begun
        assert page.main().get_by_role("alert").count() == 0, screen
    with capsys.disabled():
        told = ", ".join(f"{name} {took:.0f} ms" for name, took in times.items())
        print(f"\nconsole, {MANY:,} records, until loaded: {told}")
    page.assert_clean()
    context.close()
