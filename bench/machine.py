"""Facts about the machine that explain the numbers, and none that identify it."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import re
import shutil
import time
from pathlib import Path

from bench.timing import Times

ABSENT = "not installed"
IN_MEMORY = {"tmpfs", "ramfs"}  # a sync costs nothing there


def facts(folder: Path) -> dict[str, str]:
    import apsw

    return {
        "processor": processor(),
        "cores": str(os.cpu_count()),
        "memory": memory(),
        "load before the run": load(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "sqlite": apsw.sqlite_lib_version(),
        "apsw": apsw.apsw_version(),  # its package has another name where files are encrypted
        **{name: version_of(name) for name in ("numpy", "simsimd", "sqlite-vec")},
        "file system": file_system_of(folder),
        "write and sync of 4 KiB": f"{sync_seconds(folder) * 1000:.2f} ms (median)",
    }


def processor() -> str:
    information = Path("/proc/cpuinfo")
    if information.exists():
        found = re.search(r"^model name\s*:\s*(.+)$", information.read_text(), re.MULTILINE)
        if found:
            return found[1]
    return platform.processor() or platform.machine()


def memory() -> str:
    try:
        size = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (ValueError, OSError):
        return "unknown"
    return f"{size / 2**30:.0f} GiB"


def load() -> str:
    try:
        return f"{os.getloadavg()[0]:.1f}"
    except OSError:
        return "unknown"


def version_of(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return ABSENT


def file_system_of(folder: Path) -> str:
    """The type of the file system that a folder is on, such as ext4."""
    mounts = Path("/proc/self/mounts")
    if not mounts.exists():
        return "unknown"
    resolved = folder.resolve()
    best, kind = "", "unknown"
    for line in mounts.read_text().splitlines():
        _, place, type_, *_ = line.split()
        place = place.replace("\\040", " ")
        if resolved.is_relative_to(place) and len(place) >= len(best):
            best, kind = place, type_
    return kind


def sync_seconds(folder: Path, times: int = 50) -> float:
    """How long this disk takes to make one page durable."""
    measured = Times()
    path = folder / "sync"
    with path.open("wb", buffering=0) as file:
        for _ in range(times):
            with measured.one():
                file.write(b"\0" * 4096)
                os.fsync(file.fileno())
    path.unlink()
    return measured.median


def free_bytes(folder: Path) -> int:
    return shutil.disk_usage(folder).free


def today() -> str:
    return time.strftime("%Y-%m-%d", time.gmtime())
