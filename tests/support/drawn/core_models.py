"""Models in core drawn by hypothesis (see `drawn_models`)."""

from tests.support.drawn.drawn_models import INSTANCE, models

__all__ = ["INSTANCE", "models"]
