"""Two opaque counters of one charter: an implementation counts each as it likes."""

import json
import shutil
import sys
from pathlib import Path

import pytest

from charter import api
from charter.api import generated as generate
from charter.formats.project import project_at

DESK = """protocol desk
sort Client
opaque counter Life
opaque counter Ticket
union Noted { lived(at: Life), held(at: Ticket) }
union Taken { given(ticket: Ticket), stranger }

component desk {
  state life: map Client -> option Life = [c in Client: none]
  state ticket: option Ticket = none
  state noted: set Noted = {}
  state last_life: Life = 0
  state last_ticket: Ticket = 0

  operation register(c: Client) -> Life {
    branch registered {
      last_life' = bump(last_life)
      life[c]' = present(bump(last_life))
      reply bump(last_life)
    }
  }
  operation take(c: Client, l: Life) -> Taken {
    branch stranger when life[c] != present(l)  reply stranger
    branch given {
      last_ticket' = bump(last_ticket)
      ticket' = present(bump(last_ticket))
      reply given(bump(last_ticket))
    }
  }
  operation use(t: Ticket) -> bool {
    branch wrong when ticket != present(t)  reply false
    branch used { ticket' = none  reply true }
  }
  operation note(c: Client) -> bool {
    branch nothing when life[c] == none or ticket == none  reply false
    branch noted {
      noted' = {lived(value(life[c])), held(value(ticket))}
      reply true
    }
  }
  observe all { life  ticket  noted }
}
witness busy of desk: ticket != none and noted != {}
stepwise tickets_are_used_once of desk: took use/used implies ticket' == none
mutant ticket_stays in tiny {
  replace in desk operation use(t: Ticket) -> bool {
    branch wrong when ticket != present(t)  reply false
    branch used { reply true }
  }
} caught by tickets_are_used_once
instance tiny of desk { Client = 2 }
scenario "a ticket is used" of desk {
  Client = {a, b}
  do register(a) -> registered
  do register(b) -> registered
  do take(a, value(life[a])) -> given
  let first = value(ticket)
  do note(a) -> noted
  do use(first) -> used
  do take(b, value(life[b])) -> given
  do use(first) -> wrong
}
"""

ADAPTER = """import sys
from charter.formats.canonical import as_set
from conform import sdk

LIFE, TICKET = map(eval, sys.argv[1:3])   # the n-th life and ticket, by n
SAYS_NO = sys.argv[3:] == ["says no"]

class Desk(sdk.Adapter):
    about = sdk.About("desk", "1", "desk", ("register", "take", "use", "note"), SHOWS, (), {})
    def start(self, question):
        self.life = dict.fromkeys(question.sorts["Client"])
        self.ticket, self.noted, self.lives, self.tickets = None, [], 0, 0
    def perform(self, operation, args):
        if operation == "register":
            self.lives += 1
            self.life[args["c"]] = f"@{LIFE(self.lives)}"
            return self.life[args["c"]]
        if operation == "take":
            if self.life[args["c"]] != args["l"]:
                return {"case": "stranger"}
            self.tickets += 1
            self.ticket = f"@{TICKET(self.tickets)}"
            return {"case": "given", "ticket": self.ticket}
        if operation == "use":
            if self.ticket is None or self.ticket != args["t"]:
                return False
            self.ticket = None
            return not SAYS_NO
        if self.life[args["c"]] is None or self.ticket is None:
            return False
        held = {"case": "held", "at": self.ticket}
        self.noted = as_set([{"case": "lived", "at": self.life[args["c"]]}, held])
        return True
    def observe(self):
        shown = {"life": dict(self.life), "ticket": self.ticket, "noted": self.noted}
        return {name: shown[name] for name in Desk.about.observes}
    def never_issued(self, operation, path):
        return "@1000000000"

sdk.serve(Desk())
"""

ALL = ("life", "ticket", "noted")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with the charter, its models, and a suite in `suite`."""
    root = tmp_path_factory.mktemp("project")
    charter = root / "spec" / "desk"
    charter.mkdir(parents=True)
    (charter / "desk.charter").write_text(DESK)
    (root / "charter.toml").touch()
    generate.write(project_at(root))
    (protocol,) = generate.protocols(project_at(root))
    mutants = generate.mutant_models(generate.open_protocol(protocol), "ticket_stays")
    models = {f"{generate.PACKAGE}/{path}": text for path, text in mutants.items()}
    generate.write_files(models, root / "generated")
    wanted = api.SuiteRequest(charter=charter, search=True, out=root / "suite")
    api.make_suite(wanted, lambda *_: None)
    shutil.copytree(root / "suite", root / "generated" / "suites" / "desk" / "desk")
    return root


@pytest.fixture
def project(made, monkeypatch):
    monkeypatch.chdir(made)
    return made


def target(project: Path, name: str, *options: str, shows=ALL) -> str:
    """A target of the project: an implementation that counts by the given functions."""
    place = project / "adapters" / name
    place.mkdir(parents=True, exist_ok=True)
    (place / "desk.py").write_text(ADAPTER.replace("SHOWS", repr(shows)))
    start = [sys.executable, "{adapter}/desk.py", *options]
    (place / "adapter.toml").write_text(
        f'id = "{name}"\ntitle = "Desk"\nprotocol = "desk"\ncomponent = "desk"\n'
        f"capabilities = []\nstart = {json.dumps(start)}\n[not_compared]\n"
        '"unsupported load" = "it cannot start from a state"\n'
        + "".join(f'"variable {each}" = "hidden"\n' for each in ALL if each not in shows)
    )
    return name


def ran(conform, project: Path, name: str, *options: str, shows=ALL):
    """Exit code and summary of a run in build/NAME."""
    target(project, name, *options, shows=shows)
    code, _, err = conform(
        "run", "--target", name, "--suite", project / "suite", "--engine", "inline",
        "--out", project / "build" / name,
    )  # fmt: skip
    assert code in (0, 1), err
    return code, json.loads((project / "build" / name / "summary.json").read_text())


COUNT, BY_TEN, FROM_100 = "lambda n: n", "lambda n: 10 * n", "lambda n: 99 + n"
FROM_9 = "lambda n: 8 + n"


@pytest.mark.parametrize(
    ("life", "ticket", "shows"),
    [
        (FROM_100, COUNT, ("ticket", "noted")),
        (FROM_9, BY_TEN, ALL),
        *(
            pytest.param(*pair, shows, marks=pytest.mark.slow)
            for pair in ((COUNT, FROM_100), (FROM_100, COUNT), (BY_TEN, COUNT), (FROM_9, BY_TEN))
            for shows in (ALL, ("ticket", "noted"), ("life", "ticket"))
        ),
    ],
)
def test_counters_that_advance_differently_conform(conform, project, life, ticket, shows):
    name = f"good-{len(list(project.glob('adapters/*')))}"
    code, told = ran(conform, project, name, life, ticket, shows=shows)
    assert (code, told["verdicts"]["diverges"], told["trusted"]) == (0, 0, True), told
    assert told["verdicts"]["conforms"] == told["vectors"] - told["verdicts"]["unsupported"]


@pytest.mark.parametrize(
    ("life", "ticket", "rule"),
    [
        ("lambda n: 7", FROM_100, "register/registered"),
        pytest.param(FROM_100, "lambda n: 7", "take/given", marks=pytest.mark.slow),
        pytest.param("lambda n: 100 - n", COUNT, "register/registered", marks=pytest.mark.slow),
        (COUNT, "lambda n: 100 - n", "take/given"),
    ],
)
def test_value_of_a_counter_that_comes_again_or_falls_diverges(
    conform, project, life, ticket, rule
):
    name = f"bad-{len(list(project.glob('adapters/*')))}"
    code, told = ran(conform, project, name, life, ticket)
    assert (code, told["trusted"]) == (1, True)
    assert [finding["rule"] for finding in told["findings"]] == [rule]


def test_run_is_followed_after_a_deviation_though_counters_advance_differently(conform, project):
    code, told = ran(conform, project, "no", BY_TEN, FROM_100, "says no")
    assert code == 1 and told["trusted"]
    assert [finding["sentence"] for finding in told["findings"]] == [
        "use/used: expected reply = true, got false"
    ]
    assert told["not_judged_steps"] == 0


def test_finding_is_shown_replayed_and_reported_with_labels_by_type(conform, project):
    name = target(project, "falls", FROM_9, "lambda n: 100 - n")
    _, told = ran(conform, project, name, FROM_9, "lambda n: 100 - n")
    (finding,) = told["findings"]
    assert finding["sentence"] == "take/given: expected reply.ticket = #2, got #0.5"
    run = project / "build" / name
    vector = finding["shrunk"]["vector"]
    code, out, _ = conform("replay", vector, "--run", run, "--suite", project / "suite")
    assert code == 1 and "reply given(#0.5)" in out and "given(#3)" not in out
    values = (
        'reply.ticket must be a new value, greater than all before ("#2"); it is a new value, not'
        ' greater than all before ("#0.5")'
    )
    assert values in finding["shrunk"]["shown"] and values in out
    assert conform("report", run, "--out", project / "build" / "site")[0] == 0
    pages = (project / "build" / "site").glob(f"runs/*/vectors/{finding['vector']}.html")
    assert values.replace('"', "&#34;") in next(pages).read_text()
    again = project / "build" / "again"
    code, _, err = conform("rejudge", run, "--suite", project / "suite", "--out", again)
    assert (code, err) == (1, "")
    code, out, _ = conform("compare", run, again)
    assert code == 0, out


def test_runs_compare_by_order_within_each_counter(conform, project):
    for name, ticket in (("hundreds", FROM_100), ("tens", BY_TEN)):
        assert ran(conform, project, name, COUNT, ticket)[0] == 0
    runs = [project / "build" / name for name in ("hundreds", "tens")]
    code, out, _ = conform("compare", *runs)
    assert code == 0, out
    about = json.loads((runs[0] / "run.json").read_text())
    assert about["types"]["state"]["last_life"] == "Life"


def test_suite_whose_labels_mix_types_is_refused(conform, project, tmp_path):
    name = target(project, "late", COUNT, COUNT)
    old = tmp_path / "old"
    shutil.copytree(project / "suite", old)
    about = json.loads((old / "manifest.json").read_text())
    del about["types"]["state"]
    (old / "manifest.json").write_text(json.dumps(about))
    code, _, err = conform("run", "--target", name, "--suite", old)
    assert code == 2
    assert "an earlier version made this suite" in err
    assert "compare values of Life with values of Ticket" in err
    assert err.rstrip().endswith("generate the suite again")


def test_adapter_that_keeps_nothing_is_not_accused_by_doctor(conform, project):
    """Tickets go on from question to question, lives begin anew: only order and equality within
    each counter count."""
    name = target(project, "goes-on", COUNT, "lambda n, a=iter(range(10**9)): 5 + next(a)")
    code, out, err = conform("doctor", "--adapter", name)
    assert code == 0, out + err
