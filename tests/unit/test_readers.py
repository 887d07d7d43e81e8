"""The threads that read a file: who read last reads again."""

from __future__ import annotations

import threading
from concurrent.futures import wait

import pytest

from standfast.stores.sqlite.readers import Readers


def test_one_question_after_the_other_is_read_by_the_same_thread() -> None:
    readers = Readers(4, "reader")
    gate = threading.Barrier(3)
    wait([readers.submit(gate.wait) for _ in range(3)])  # three are there now
    seen = set()
    for _ in range(50):
        seen.add(readers.submit(threading.get_ident).result())
    readers.shutdown()
    assert len(seen) == 1


def test_no_more_threads_than_allowed_and_nothing_is_left_out() -> None:
    readers = Readers(3, "reader")
    held, most, now, lock = threading.Event(), [0], [0], threading.Lock()

    def work(number: int) -> int:
        with lock:
            now[0] += 1
            most[0] = max(most[0], now[0])
        held.wait(10)
        with lock:
            now[0] -= 1
        return number

    asked = [readers.submit(work, number) for number in range(20)]
    held.set()
    readers.shutdown()
    assert [one.result(0) for one in asked] == list(range(20))
    assert 1 <= most[0] <= 3
    assert not [one for one in threading.enumerate() if one.name.startswith("reader_")]
    with pytest.raises(RuntimeError):
        readers.submit(work, 0)


def test_an_error_reaches_who_asked_and_the_thread_reads_on() -> None:
    readers = Readers(1, "reader")

    def fail() -> None:
        raise OSError("no")

    with pytest.raises(OSError, match="no"):
        readers.submit(fail).result()
    assert readers.submit(lambda: 7).result() == 7
    readers.shutdown()


def test_what_nobody_waits_for_any_more_is_not_begun() -> None:
    readers = Readers(1, "reader")
    held = threading.Event()
    first = readers.submit(held.wait, 10)
    second = readers.submit(pytest.fail, "begun")
    assert second.cancel()
    held.set()
    assert first.result()
    readers.shutdown()
