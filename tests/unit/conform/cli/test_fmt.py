"""`conform fmt`: what it writes, what it only names, and what it leaves alone."""

from pathlib import Path

from conform.cli.main import main

ROOT = Path(__file__).parents[4]
UNTIDY = "protocol small\n\nsort   Broker\nfun same(b:Broker) -> Broker cites silent = b\n"


def test_fmt_writes_canonical_text_once(tmp_path: Path) -> None:
    file = tmp_path / "small.charter"
    file.write_text(UNTIDY)
    assert main(["fmt", str(file), "--check"]) == 1
    assert file.read_text() == UNTIDY
    assert main(["fmt", str(file)]) == 0
    assert file.read_text() != UNTIDY
    assert main(["fmt", str(file), "--check"]) == 0


def test_fmt_leaves_a_broken_file_alone(tmp_path: Path) -> None:
    file = tmp_path / "broken.charter"
    file.write_text("protocol small\nfun = {\n")
    assert main(["fmt", str(file)]) == 1
    assert file.read_text() == "protocol small\nfun = {\n"


def test_fmt_names_a_path_that_is_missing(tmp_path: Path) -> None:
    assert main(["fmt", str(tmp_path / "none.charter")]) == 2


def test_the_charters_of_the_project_are_formatted() -> None:
    charters = ["spec/kafka", "spec/examples"]
    overlay = "conformance/adapters/kafka-controller/overlay.charter"
    assert main(["fmt", "--check", *(str(ROOT / c) for c in (*charters, overlay))]) == 0
