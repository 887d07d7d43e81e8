"""What a model costs, from the list that comes with the extra ``llm``; nothing is fetched."""

from __future__ import annotations

from standfast.models.providers.llm.names import Place

_SAMPLE = 1000  # tokens; small, so that it falls into the first tier of every price


def known_price(place: Place) -> tuple[float, float] | None:
    """Dollars per million tokens, in and out; None if nobody knows. What runs on this machine
    or is Ollama's costs nothing."""
    if place.provider == "ollama" or place.here:
        return 0.0, 0.0
    try:
        from genai_prices import Usage, calc_price
    except ImportError:
        return None
    try:
        found = calc_price(
            Usage(input_tokens=_SAMPLE, output_tokens=_SAMPLE),
            place.model,
            provider_id=place.provider,
        )
    except LookupError:
        return None
    scale = 1_000_000 / _SAMPLE
    return round(float(found.input_price) * scale, 6), round(float(found.output_price) * scale, 6)
