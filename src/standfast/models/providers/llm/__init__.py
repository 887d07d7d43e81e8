"""Language models of many providers through one library: ``ProviderModel`` asks once, within a
time and a size, and hands back an answer that fits its schema or a plain error."""

from standfast.models.providers.llm.model import ProviderModel
from standfast.models.providers.llm.names import KEY_VARIABLES, Place, place_of

__all__ = ["KEY_VARIABLES", "Place", "ProviderModel", "place_of"]
