"""Where the files of a charter stand."""

from pathlib import Path

from charter.formats.claims import claims_file
from charter.formats.files import beside_charter
from charter.formats.survivors import survivors_file
from charter.formats.verdicts import verdicts_file


def test_files_of_a_folder_are_in_it_and_those_of_a_file_beside_it(tmp_path: Path) -> None:
    assert beside_charter(tmp_path, "found") == tmp_path / "found"
    assert verdicts_file(tmp_path) == tmp_path / "verdicts" / "verdicts.json"
    one = tmp_path / "kip.966.charter"
    assert claims_file(one) == tmp_path / "kip.966.claims.toml"
    assert survivors_file(one) == tmp_path / "kip.966.survivors.toml"
    assert verdicts_file(one) == tmp_path / "kip.966.verdicts" / "verdicts.json"
