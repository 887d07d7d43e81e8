"""Every family there is, in the order of the page."""

from __future__ import annotations

from proof import erasure, faults, fuzz, histories, kills, load, readers, tenants
from proof.family import ProofFamily

FAMILIES: tuple[ProofFamily, ...] = (
    kills.FAMILY,
    faults.FAMILY,
    histories.FAMILY,
    tenants.FAMILY,
    fuzz.FAMILY,
    erasure.FAMILY,
    load.FAMILY,
    readers.FAMILY,
)
