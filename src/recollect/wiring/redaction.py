"""What takes secrets out, as the settings have it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from recollect.settings import Settings

if TYPE_CHECKING:
    from recollect.text.redact import Redacted, Redactor, Secret


def redactor_for(settings: Settings) -> Redactor:
    """Invalid: settings that are no kinds or patterns. Without any, the patterns are loaded with
    the first text that is written: who only reads needs none of them."""
    if not settings.redact_off and not settings.redact_own:
        return cast("Redactor", LaterRedactor())
    from recollect.text.redact import redactor_from

    return redactor_from(settings.redact_off, settings.redact_own)


class LaterRedactor:
    """A ``Redactor`` that looks for every kind of secret."""

    def redact(self, text: str) -> Redacted:
        from recollect.text.redact import redact

        return redact(text)

    def redact_value(self, value: Any) -> tuple[Any, tuple[Secret, ...]]:
        from recollect.text.redact import redact_value

        return redact_value(value)
