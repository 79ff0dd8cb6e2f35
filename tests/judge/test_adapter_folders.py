"""Folders of adapters that `conform generate --adapter` writes."""


def test_generate_writes_an_adapter_and_then_only_its_types(conform, toy, tmp_path):
    folder = tmp_path / "box-go"
    assert conform("generate", "--adapter", "go", toy, "--out", folder)[0] == 0
    types = folder / "charter" / "protocol.go"
    types.write_text("old")
    (folder / "main.go").write_text("mine")
    _, out, _ = conform("generate", "--adapter", "go", toy, "--out", folder)
    assert out.split() == [str(types)]
    assert "package charter" in types.read_text()
    assert (folder / "main.go").read_text() == "mine"
