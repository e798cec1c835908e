"""Checks a bundle: that it is the one that was exported, and that what it says holds. Without a network, and without
believing anything in it.

First every entry is held against the list of them. Only of a bundle that is whole the inside is looked at: otherwise
one change would be told many times over.
"""

from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

from footnote.bundles.form import SESSION, BundleDamaged
from footnote.bundles.inside import BundleContents, ConsistencyCheck
from footnote.bundles.opening import Bundle, BundleProblem, opened
from footnote.protocol.history import SessionHead
from footnote.protocol.version import __version__


class Report(Struct, frozen=True, kw_only=True):
    """What came of it. `findings`: what is wrong, nothing if all is right. `notes`: what could not be checked."""

    ok: bool
    seal: str | None = None
    session: SessionHead | None = None
    footnote: str | None = None
    exported_at: str | None = None
    entries: int = 0
    snapshots: int = 0
    versions: int = 0
    runs: int = 0
    verdicts: int = 0
    quotations: int = 0
    findings: tuple[BundleProblem, ...] = ()
    notes: tuple[str, ...] = ()


def verify(file: Path) -> Report:
    """`NotABundle`: there is nothing to be checked."""
    try:
        with opened(file) as bundle:
            return checked(bundle).report
    except BundleDamaged as error:
        return Report(ok=False, findings=(BundleProblem(error.entry, "unreadable", error.reason),))


class VerifiedBundle(Struct, frozen=True):
    """A report, what was read for it, None where that was not possible, and those findings without which it would do:
    verdicts that another version of Footnote has given."""

    report: Report
    read: BundleContents | None
    otherwise: tuple[BundleProblem, ...]


def checked(bundle: Bundle) -> VerifiedBundle:
    manifest = bundle.manifest
    inside = ConsistencyCheck(bundle)
    notes: list[str] = []
    try:
        findings = list(bundle.findings())
    except BundleDamaged as error:
        findings = [BundleProblem(error.entry, "unreadable", error.reason)]
    if findings:
        notes.append("Because of that, what the bundle says was not checked.")
    else:
        findings = list(_inside(inside))
        notes += inside.notes
        if manifest.footnote != __version__ and any(one.problem == "wrong" for one in findings):
            notes.append(
                f"The bundle was made by Footnote {manifest.footnote}, and checked by {__version__}: another version "
                "may judge otherwise."
            )
    report = Report(
        ok=not findings,
        seal=manifest.seal,
        session=manifest.session,
        footnote=manifest.footnote,
        exported_at=manifest.exported_at,
        entries=len(bundle.entries),
        snapshots=inside.snapshots,
        versions=inside.versions,
        runs=inside.runs,
        verdicts=inside.verdicts,
        quotations=inside.quotations,
        findings=tuple(findings),
        notes=tuple(notes),
    )
    return VerifiedBundle(report, inside.read, () if manifest.footnote == __version__ else tuple(inside.otherwise))


def _inside(inside: ConsistencyCheck) -> Iterator[BundleProblem]:
    try:
        yield from inside.findings()
    except BundleDamaged as error:
        yield BundleProblem(error.entry, "unreadable", error.reason)
    except RecursionError:
        yield BundleProblem(SESSION, "unreadable", "a value in it is nested too deeply")
