"""The documentation as a site in one folder: no server, no network, searchable.

Sphinx with MyST and furo reads the Markdown pages where they are. ``docs/index.md`` is the only
list of them: each of its sections becomes a part of the navigation. A page in no list and a link
that leads nowhere end the build.
"""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
INDEX = "docs/index"
SITE = ROOT / "build" / "site"
LOOKS = ROOT / "docs" / "site"
LIFTED = {"CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md", "model/README.md"}
BACKSTAGE = (
    "build", "dist", "**/.*", "src", "tests", "proof", "evaluation", "training", "bench", "scripts",
    "requirements", "deploy",
)  # fmt: skip

_LINK = re.compile(r"(?<!!)\[(?P<text>[^\]]*)\]\((?P<target>[^)\s]+)\)")
_FENCE = re.compile(r"^```.*?^```[ \t]*$", re.MULTILINE | re.DOTALL)
_SECTION = re.compile(r"^## (?P<title>.+)$", re.MULTILINE)
_ENTRY = re.compile(r"^(?:-|\d+\.) \[(?P<text>[^\]]+)\]\((?P<target>[^)\s#]+\.md)\)", re.MULTILINE)

CONFIGURATION: dict[str, Any] = {
    "project": "standfast",
    "root_doc": INDEX,
    "extensions": ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"],
    "source_suffix": {".md": "markdown"},
    "include_patterns": ["docs/*.md", "docs/**/*.md", *sorted(LIFTED)],
    "exclude_patterns": list(BACKSTAGE),
    "html_theme": "furo",
    "html_title": "standfast",
    "html_static_path": [str(LOOKS)],
    "html_css_files": ["site.css"],
    "html_copy_source": False,
    "html_show_sphinx": False,
    "html_show_copyright": False,
    "html_last_updated_fmt": None,
    "myst_heading_anchors": 4,
    "autodoc_typehints": "signature",
    "autodoc_member_order": "bysource",
    "autodoc_preserve_defaults": True,
    "python_maximum_signature_line_length": 88,
    "suppress_warnings": ["misc.highlighting_failure"],
}


def sections(index: str, folder: Path) -> list[tuple[str, list[tuple[str, str]]]]:
    """Title of each part of the navigation, and its pages as (name, path from the root)."""
    parts = _SECTION.split(index)
    titles, texts = ["", *parts[1::2]], parts[::2]
    return [
        (title, [_entry(found, folder) for found in _ENTRY.finditer(text)])
        for title, text in zip(titles, texts, strict=True)
    ]


def _entry(found: re.Match[str], folder: Path) -> tuple[str, str]:
    name = found["text"]
    path = (folder / found["target"]).resolve().relative_to(ROOT)
    return name[0].upper() + name[1:], path.as_posix().removesuffix(".md")


def navigation(index: str, folder: Path) -> str:
    """The index with its lists as Sphinx wants them; people still see the lists."""
    parts = [index, *(_tree(title, pages) for title, pages in sections(index, folder) if pages)]
    return "\n\n".join(parts) + "\n"


def _tree(title: str, pages: list[tuple[str, str]]) -> str:
    caption = [f":caption: {title}"] if title else []
    entries = [f"{name} </{path}>" for name, path in pages]
    return "\n".join(("```{toctree}", ":hidden:", *caption, "", *entries, "```"))


def only_pages(text: str, page: Path) -> str:
    """Links to what is no page (sources, tests, folders) become plain words."""

    def plain(link: re.Match[str]) -> str:
        target = link["target"].partition("#")[0]
        if not target or "://" in target or _is_page((page.parent / target).resolve()):
            return link[0]
        return link["text"]

    parts = re.split(f"({_FENCE.pattern})", text, flags=re.MULTILINE | re.DOTALL)
    return "".join(part if part.startswith("```") else _LINK.sub(plain, part) for part in parts)


def _is_page(path: Path) -> bool:
    if not path.is_relative_to(ROOT):
        return False
    name = path.relative_to(ROOT).as_posix()
    return name in LIFTED or (name.startswith("docs/") and path.is_file())


def _read(_: Any, name: str, source: list[str]) -> None:
    page = ROOT / f"{name}.md"
    text = navigation(source[0], page.parent) if page.name == "index.md" else source[0]
    source[0] = only_pages(text, page)


def aliases() -> dict[str, str]:
    """Types of arguments are shown by their names, not by what they are made of."""
    from standfast.types import arguments

    return {name: name for name in vars(arguments) if name[0].isupper()}


def build(target: Path = SITE) -> int:
    """Into an empty folder; 0 if there was nothing to complain about."""
    from sphinx.application import Sphinx

    shutil.rmtree(target, ignore_errors=True)
    doctrees = target.parent / f"{target.name}-doctrees"
    app = Sphinx(
        srcdir=ROOT,
        confdir=None,
        outdir=target,
        doctreedir=doctrees,
        buildername="html",
        confoverrides={**CONFIGURATION, "autodoc_type_aliases": aliases()},
        freshenv=True,
        warningiserror=True,
        status=None,
    )
    app.connect("source-read", _read)
    app.build()
    shutil.rmtree(doctrees, ignore_errors=True)
    (target / "index.html").write_text(ENTRANCE, "utf-8")
    return int(app.statuscode)


ENTRANCE = f"""\
<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>standfast</title>
<meta http-equiv="refresh" content="0; url={INDEX}.html">
<p><a href="{INDEX}.html">standfast</a></p>
</html>
"""


if __name__ == "__main__":
    code = build()
    print(SITE / "index.html" if not code else "the site has faults, said above", file=sys.stderr)
    sys.exit(code)
