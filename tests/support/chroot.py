"""A root folder of its own for commands: the system and the tool chains are there, read-only, the
checkout and the rest of the machine are not. What runs in the new namespace is
`python chroot.py ROOT SEEN SHARED FOLDER COMMAND...`"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

SYSTEM = ("bin", "sbin", "lib", "lib32", "lib64", "usr", "etc", "opt")
DEVICES = ("null", "zero", "full", "random", "urandom")
NAMESPACE = ("unshare", "--mount", "--pid", "--fork", "--kill-child")
OF_A_USER = (*NAMESPACE, "--user", "--map-root-user")
NO_NAMESPACE = "`unshare --mount` of util-linux is needed, as root or with namespaces of users"
SETTINGS = ("LANG", "JAVA_HOME", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy",
            "https_proxy", "no_proxy", "PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "PIP_CONFIG_FILE",
            "PIP_FIND_LINKS", "PIP_CERT", "MAVEN_ARGS", "MAVEN_OPTS")  # fmt: skip


@dataclass(frozen=True, slots=True)
class Chroot:
    """A root folder. Of the machine it has the folders `seen`, read-only, and `shared`, the caches
    of downloads. Paths inside are written as seen from inside."""

    root: Path
    seen: tuple[Path, ...]
    shared: tuple[Path, ...]

    @staticmethod
    def make(root: Path) -> Chroot:
        """Make a root folder with the places to mount things at. Home is where it is on this
        machine, but empty: the JVM knows no other."""
        for name in ("proc", "dev", "tmp"):
            (root / name).mkdir(parents=True)
        for path in (Path("/", name) for name in SYSTEM):
            if path.is_symlink():
                (root / path.name).symlink_to(path.readlink())
        made = Chroot(root, tuple(_list_seen()), tuple(_list_shared()))
        for path in (*made.seen, *made.shared, Path.home()):
            made.place(path).mkdir(parents=True, exist_ok=True)
        return made

    def place(self, path: str | Path) -> Path:
        """Where a path is, as seen from outside."""
        return self.root / Path(path).relative_to("/")

    def environment(self) -> dict[str, str]:
        """The environment of a person who has just logged in."""
        known = [place for place in os.environ["PATH"].split(os.pathsep) if _system(place)]
        tools = [f"{place}/bin" for place in (sys.base_prefix, *_rust())]
        kept = {name: os.environ[name] for name in SETTINGS if name in os.environ}
        return {**kept, "HOME": str(Path.home()), "PATH": os.pathsep.join([*tools, *known])}

    def command(self, folder: str, command: Sequence[str]) -> list[str]:
        """The command that runs another one inside, in a folder."""
        bound = [os.pathsep.join(map(str, paths)) for paths in (self.seen, self.shared)]
        within = (sys.executable, "-I", "-S", __file__, str(self.root), *bound, folder)
        return [*_namespace(), *within, *command]


def _namespace() -> Sequence[str]:
    for command in (NAMESPACE, OF_A_USER):
        with contextlib.suppress(OSError, subprocess.CalledProcessError):
            subprocess.run([*command, "true"], check=True, capture_output=True)
            return command
    raise AssertionError(NO_NAMESPACE)


def _list_seen() -> Iterator[Path]:
    """The system, Python, Rust, settings of pip."""
    system = (Path("/", name) for name in SYSTEM)
    yield from (path for path in system if path.is_dir() and not path.is_symlink())
    names = Path("/etc/resolv.conf").resolve().parent
    others = (Path(sys.base_prefix), *_rust(), Path.home() / ".config" / "pip", names)
    yield from (path for path in others if path.is_dir() and not _system(path))


def _list_shared() -> Iterator[Path]:
    home = Path.home()
    cache = os.environ.get("PIP_CACHE_DIR", home / ".cache" / "pip")
    cargo = os.environ.get("CARGO_HOME", home / ".cargo")
    yield from (path for path in (Path(cache), Path(cargo), home / ".m2") if path.is_dir())


def _rust() -> Iterator[Path]:
    """The tool chain itself: what rustup puts on the path only finds it."""
    if shutil.which("rustc"):
        asked = ["rustc", "--print", "sysroot"]
        yield Path(subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip())


def _system(path: str | Path) -> bool:
    return Path(path).parts[1:2] != () and Path(path).parts[1] in SYSTEM


def enter(root: Path, seen: str, shared: str) -> None:
    """Mount everything, and make `root` the root of this process."""
    for path in seen.split(os.pathsep):
        _mount("--rbind", "-o", "ro", path, f"{root}{path}")
    for path in filter(None, shared.split(os.pathsep)):
        _mount("--rbind", path, f"{root}{path}")
    _mount("-t", "proc", "proc", f"{root}/proc")
    _mount("-t", "tmpfs", "tmpfs", f"{root}/dev")
    for name in DEVICES:
        (root / "dev" / name).touch()
        _mount("--bind", f"/dev/{name}", f"{root}/dev/{name}")
    (root / "dev" / "shm").mkdir(mode=0o1777)
    (root / "dev" / "fd").symlink_to("/proc/self/fd")
    os.chroot(root)


def _mount(*arguments: str) -> None:
    subprocess.run(["mount", *arguments], check=True)


if __name__ == "__main__":
    signal.signal(signal.SIGINT, lambda *_: None)  # Ctrl-C is for the command
    enter(Path(sys.argv[1]), *sys.argv[2:4])
    sys.exit(subprocess.run(sys.argv[5:], cwd=sys.argv[4], check=False).returncode)
