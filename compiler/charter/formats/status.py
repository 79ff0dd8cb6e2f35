"""Defines the version of the adapter protocol and the status of a question
(docs/formats/adapter.md): what adapters in Python need of the protocol's messages, which are in
`charter.formats.adapter`."""

from __future__ import annotations

from enum import StrEnum

PROTOCOL = 1


class Status(StrEnum):
    """The status of a question, from the adapter."""

    OK = "ok"
    UNRESOLVED = "unresolved"
    UNSUPPORTED = "unsupported"
    NOT_LOADABLE = "not_loadable"
    ERROR = "error"
