"""Builds the adapter: `prepare.py MANIFEST TARGET`, the path of Cargo.toml and a folder.

Cargo builds a package again when a file has a newer date. A file that was restored with its old
date (by a version control system, from a copy) has none, and the old program would be judged. So
packages in folders, such as an implementation beside the adapter, are built anew when the content
of one of their files changed. The rest of the build stays.
"""

import hashlib
import json
import subprocess
import sys
from pathlib import Path

NOTE = "contents.json"


def main(manifest: str, target: str) -> None:
    note = Path(target) / NOTE
    known = noted(note)
    found = {package: digest(folder) for package, folder in folders(manifest).items()}
    changed = [package for package in found if found[package] != known.get(package)]
    where = ("--release", "--manifest-path", manifest, "--target-dir", target)
    if changed and (Path(target) / "release").exists():
        cargo("clean", *where, *(f"--package={package}" for package in changed))
    note.write_text(json.dumps(found))
    cargo("build", *where)


def noted(note: Path) -> dict[str, str]:
    """What was built last, if a note of it can be read."""
    try:
        return json.loads(note.read_text())
    except (OSError, ValueError):
        return {}


def folders(manifest: str) -> dict[str, Path]:
    """The folders of all packages that are built from a folder, by id."""
    asked = ("--quiet", "--format-version", "1", "--manifest-path", manifest)
    done = subprocess.run(("cargo", "metadata", *asked), stdout=subprocess.PIPE, check=False)
    if done.returncode:
        sys.exit(done.returncode)
    packages = json.loads(done.stdout)["packages"]
    local = [one for one in packages if one["source"] is None]
    return {one["id"]: Path(one["manifest_path"]).parent for one in local}


def digest(folder: Path) -> str:
    """A digest of the files of a folder, without those of builds and hidden ones."""
    found = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        parts = path.relative_to(folder).parts
        if path.is_file() and parts[0] != "target" and not any(p.startswith(".") for p in parts):
            found.update("/".join(parts).encode() + b"\0")
            found.update(hashlib.sha256(path.read_bytes()).digest())
    return found.hexdigest()


def cargo(command: str, *words: str) -> None:
    """Runs cargo, and ends where it fails; what it says stands on stderr."""
    done = subprocess.run(("cargo", command, "--quiet", *words), stdout=sys.stderr, check=False)
    if done.returncode:
        sys.exit(done.returncode)


if __name__ == "__main__":
    main(*sys.argv[1:])
