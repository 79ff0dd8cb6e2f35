"""`conform claims`: what became of each claim of the texts."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from charter import api
from charter.api import claims
from charter.api.verdicts import BadVerdicts
from charter.formats.canonical import Json
from conform.cli.output.charters import errors_shown, exit_code, read_rest
from conform.console.errors import ConformError
from conform.console.files import write_named
from conform.console.terminal import columns, out, out_json, plural, say, shorten

if TYPE_CHECKING:
    from charter.api.claims import Claims, JudgedClaim

EXAMPLES = """examples:
  conform claims spec/kafka
  conform claims spec/kafka --write spec/kafka/verdicts/claims.md
  conform claims spec/kafka --json

Reads the claims in claims.toml beside the charter (NAME.claims.toml for a charter in one file), and
holds each against the verdicts of searches (`conform verdicts`): what is called confirmed must hold
wherever it was searched, what is called refuted must fail. A mutant that confirms something must
break its property, and scenarios are run. `conform help claims` shows the format.

Exit code 0: each claim is as the file says; 4: one is not; 3: one rests on searches that are out of
date, since the charter has changed, and none is found wrong; 2: what has errors is left out, but
each claim that does not name it is as the file says (`conform help instances-and-scenarios`).
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("charter", type=Path, help="a file, or a folder of files of one protocol")
    parser.add_argument("--write", type=Path, metavar="FILE", help="write the claims as Markdown")
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(arguments: argparse.Namespace) -> int:
    rest = read_rest(arguments.charter, api.PLAIN, whole=arguments.write is not None)
    try:
        with errors_shown(arguments.charter):
            left_out = [one.name for one in rest.broken]
            known = claims.claims_of(rest.charter, arguments.charter, left_out)
    except (claims.BadClaims, BadVerdicts) as error:
        raise ConformError(str(error)) from None
    if not known.sections:
        place = claims.claims_file(arguments.charter)
        raise ConformError(f"{place} does not exist, or has no claims; `conform help claims`")
    if not known.searched:
        say(f"nothing was searched yet: conform verdicts {arguments.charter} --write FOLDER")
    judged = known.judge_all()
    if arguments.json:
        rows: list[Json] = [
            {
                **asdict(one.claim),
                "evidence": [*one.evidence],
                "wrong": one.wrong,
                "out_of_date": one.out_of_date,
            }
            for one in judged
        ]
        out_json({"claims": rows})
    else:
        _show(known)
    if arguments.write is not None:
        write_named(arguments.write, known.markdown())
    if old := sum(one.out_of_date for one in judged):
        told = f"{plural(old, 'claim')} {'rests' if old == 1 else 'rest'} on searches that are"
        say(f"{told} out of date; `conform verdicts {arguments.charter} --write` renews them")
    status = 4 if any(one.wrong for one in judged) else 3 if old else 0
    return exit_code(status, rest.broken)


def _show(known: Claims) -> None:
    for section in known.sections:
        out(f"{section.title}:")
        rows = [_row(known.judge.judge(claim)) for claim in section.claims]
        out(columns(rows))
        out("")
    wrong = [one for one in known.judge_all() if one.wrong]
    for one in wrong:
        out(f"{one.claim.id} is not {one.claim.verdict}: {one.wrong}")
    if wrong:
        every = plural(len(known.judge_all()), "claim")
        out(f"{len(wrong)} of {every} {'is' if len(wrong) == 1 else 'are'} not as the file says")


def _row(one: JudgedClaim) -> list[str]:
    claim = one.claim
    return [f"  {claim.id}", one.verdict, shorten(" ".join(claim.says.split()), 80)]
