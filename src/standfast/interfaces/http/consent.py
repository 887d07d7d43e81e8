"""The pages on which a person allows a program to use their memory: plain, without a script, and
with nothing from elsewhere."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Mapping
from html import escape
from urllib.parse import urlsplit

from starlette.responses import HTMLResponse

from standfast.access.grants import AccessWish
from standfast.access.keys import Key

MEANING = {
    "read": "read what is remembered there, messages included",
    "write": "add memories and messages, and correct its own",
    "erase": "forget memories for good",
}
_STYLE = (
    "body{font:16px/1.5 system-ui,sans-serif;max-width:34rem;margin:3rem auto;padding:0 1rem;"
    "color:#1b1b1b;background:#fff}h1{font-size:1.4rem}fieldset{border:1px solid #bbb;margin:1em 0}"
    "label{display:block;margin:.3rem 0}input[type=password],input[type=text]{width:100%;"
    "box-sizing:border-box;padding:.5rem;font:inherit}button{font:inherit;padding:.5rem 1rem;"
    "margin-right:.5rem}code{overflow-wrap:anywhere}.wrong{color:#a40000}"
)
_HASH = base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()


def ask_for_key(wish: AccessWish, asked: Mapping[str, str], wrong: str = "") -> HTMLResponse:
    """Who are you? Only a person's key can allow anything."""
    body = f"""{_who(wish)}
{f'<p class="wrong" role="alert">{escape(wrong)}</p>' if wrong else ""}
<form method="post" action="authorize">{_hidden(asked)}
<label for="key">Your key (the program never sees it)</label>
<input id="key" name="key" type="password" autocomplete="off" required autofocus>
<p><button type="submit">Go on</button></p></form>"""
    return _page("Connect a program", body, wish.redirect, 401 if wrong else 200)


def ask_for_consent(wish: AccessWish, ticket: str, key: Key, usual: str) -> HTMLResponse:
    """What it would reach, and what of it the person gives."""
    mine = [right for right in wish.rights if right in key.rights]
    rights = "".join(_box("right", right, f"{right}: {MEANING[right]}") for right in mine)
    if key.scopes:
        scopes = "".join(_box("scope", scope, f"{scope}, and all below it") for scope in key.scopes)
    else:
        scopes = (
            '<label for="scope">Your key reaches everything. The program reaches this, and all '
            f'below it:</label><input id="scope" name="scope" type="text" value="{escape(usual)}">'
        )
    body = f"""{_who(wish)}
<form method="post" action="consent">{_hidden({"ticket": ticket})}
<fieldset><legend>It will reach</legend>{scopes}</fieldset>
<fieldset><legend>It may</legend>{rights or "<p>Your key has none of the rights asked for.</p>"}
</fieldset>
<p>Access is for <code>{escape(wish.audience)}</code>, ends after 30 days without use, and with
your key. What it writes counts as an agent's word. <code>standfast keys revoke</code> ends it.</p>
<p><button type="submit" name="decision" value="allow">Allow</button>
<button type="submit" name="decision" value="deny">Refuse</button></p></form>"""
    return _page("Allow access?", body, wish.redirect)


def refusal(said: str) -> HTMLResponse:
    """For what must not be sent back to an address that nobody knows."""
    return _page("This cannot be allowed", f'<p class="wrong">{escape(said)}</p>', "", 400)


def _who(wish: AccessWish) -> str:
    parts = urlsplit(wish.redirect)
    place = parts.netloc or f"{parts.scheme}:"
    return (
        f"<p>A program that calls itself <strong>{escape(wish.client.name)}</strong> asks to use "
        f"your memory. You will be sent back to <code>{escape(place)}</code>.</p>"
    )


def _box(name: str, value: str, said: str) -> str:
    return (
        f'<label><input type="checkbox" name="{name}" value="{escape(value)}" checked> '
        f"{escape(said)}</label>"
    )


def _hidden(values: Mapping[str, str]) -> str:
    return "".join(
        f'<input type="hidden" name="{escape(name)}" value="{escape(value)}">'
        for name, value in values.items()
    )


def _page(title: str, body: str, back: str, status: int = 200) -> HTMLResponse:
    text = (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title} · standfast'
        '</title><meta name="viewport" content="width=device-width"><meta name="robots" '
        f'content="noindex"><style>{_STYLE}</style></head><body><main><h1>{title}</h1>{body}'
        "</main></body></html>"
    )
    return HTMLResponse(text, status, headers=_headers(back))


def _headers(back: str) -> dict[str, str]:
    """A browser follows a form's redirect only to where ``form-action`` allows."""
    rules = (
        "default-src 'none'",
        f"style-src 'sha256-{_HASH}'",
        " ".join(("form-action 'self'", *_origin(back))),
        "frame-ancestors 'none'",
        "base-uri 'none'",
    )
    return {
        "Content-Security-Policy": "; ".join(rules),
        "X-Frame-Options": "DENY",
        "Referrer-Policy": "same-origin",
        "Cache-Control": "no-store",
    }


def _origin(address: str) -> Iterable[str]:
    parts = urlsplit(address)
    if parts.scheme in ("http", "https"):
        return (f"{parts.scheme}://{parts.netloc}",)
    return (f"{parts.scheme}:",) if parts.scheme else ()
