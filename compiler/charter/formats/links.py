"""Addresses that a report may link to."""

from __future__ import annotations

import re

_URL = re.compile(r"https?://[^\s\"'<>\\`]+")


def is_url(text: str) -> bool:
    """Is `text` an address of the web, with nothing in it that could leave an attribute of HTML?"""
    return _URL.fullmatch(text) is not None
