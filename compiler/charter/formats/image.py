"""Names the operations of overlay models that say what an image shows (`replace image`)."""

from __future__ import annotations

_IMAGE_OF = "_image_of_"

LAST_IMAGE = "last_image"
"""The argument with the variable's value in the image before."""
NEXT_IMAGE = "next_image"
"""The argument with the value that the image would show, but for the entry."""


def image_operation(operation: str, variable: str) -> str:
    """The operation that replies what an image shows of a variable after an operation."""
    return f"{operation}{_IMAGE_OF}{variable}"


def is_of_image(operation: str) -> bool:
    """Whether an operation has such a name."""
    return _IMAGE_OF in operation
