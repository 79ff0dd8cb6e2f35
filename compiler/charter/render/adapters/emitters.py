"""Lists the languages in which adapters can be written, and prints their files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePath

from charter.render.adapters import docs
from charter.render.adapters.go import GoPage
from charter.render.adapters.interface import Interface
from charter.render.adapters.java import JavaPage
from charter.render.adapters.node import NodePage
from charter.render.adapters.page import LanguagePage
from charter.render.adapters.python import PythonPage
from charter.render.adapters.rust import RustPage
from charter.render.text import environment


@dataclass(frozen=True, slots=True)
class AdapterLanguage:
    """Files by their path in the adapter's folder. The file of `types` is generated for each
    charter; that of the `skeleton` is written once, for the author to complete, and names the
    types by their `package`."""

    page: type[LanguagePage]
    types_path: str
    skeleton_path: str
    package: str = ""

    def types(self, seen: Interface) -> Mapping[str, str]:
        """The types of a component."""
        return _fill(self.types_path, self.page(seen))

    def skeleton(self, seen: Interface) -> Mapping[str, str]:
        """The adapter to be completed."""
        return _fill(self.skeleton_path, self.page(seen, self.package))


def _fill(path: str, page: LanguagePage) -> Mapping[str, str]:
    """A file by its path; its template has its name."""
    template = environment("charter.render.adapters").get_template(PurePath(path).name + ".j2")
    return {path: template.render(page=page, seen=page.seen, docs=docs)}


EMITTERS: Mapping[str, AdapterLanguage] = {
    "go": AdapterLanguage(GoPage, "charter/protocol.go", "main.go"),
    "java": AdapterLanguage(JavaPage, "src/charter/Protocol.java", "src/Main.java"),
    "node": AdapterLanguage(NodePage, "charter/protocol.js", "adapter.js"),
    "python": AdapterLanguage(PythonPage, "protocol.py", "adapter.py", "protocol."),
    "rust": AdapterLanguage(RustPage, "src/charter/protocol.rs", "src/main.rs"),
}
