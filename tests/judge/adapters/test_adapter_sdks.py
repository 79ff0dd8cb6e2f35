"""The SDKs of adapters: values of every kind come back as they were, and each status is answered.

echo/ has an adapter in each language that loads a given state and shows it again."""

import json
import os
import re
import shutil
import subprocess
import sys
from importlib import resources
from pathlib import Path

import pytest
from tests.support.drawn.hostile import ROLES, hostile_charter

from charter import api
from charter.formats import canonical
from conform.adapters.targets import prepare, python_path, read
from conform.project.skeletons import Skeleton, write_skeleton

ECHO = Path(__file__).parent / "echo"
KINDS = Path(__file__).parents[2] / "golden" / "adapters" / "kinds.charter"
ADAPTERS = {
    "go": ("go", "main.go"),
    "java": ("javac", "src/Main.java"),
    "node": ("node", "adapter.js"),
    "python": ("python3", "adapter.py"),
    "rust": ("cargo", "src/main.rs"),
}
SLOW = [pytest.param(name, marks=pytest.mark.slow) for name in ADAPTERS if name != "python"]
GIVEN = {
    "members": {"n1": None, "n2": {"cookie": '~a"<b>é', "session": "@7", "status": "UP"}},
    "sessions": ["@-3", "@9", "@10"],
    "orders": [{"case": "put_items", "items": [3, 1, 3], "by": "n1"}, {"case": "clear_all"}],
    "open": {"true": 5, "false": 0},
    "colours": {"UP": ["n2", "n1"], "DOWN": []},
    "slots": [[0, True], [10, False], [2, True]],
    "groups": [["n1", "n2"], ["n1"], []],
}
LARGE = 2**53 + 1
PUT = {"case": "put_items", "items": [], "by": "n2"}
ARGS = {"order": PUT, "epoch": 4, "cookie": "~x", "session": None}
REF = {"ref": [0, "open", "true"]}
ASKED = {
    "values": {"operations": [ARGS]},
    "a reference": {"operations": [ARGS, {**ARGS, "epoch": {**REF, "plus": 2}}]},
    "a reference into a reply": {
        "operations": [ARGS, {**ARGS, "epoch": {"ref": [1], "in": "reply", "plus": 2}}]
    },
    "no reply yet": {"operations": [{**ARGS, "epoch": {"ref": [0], "in": "reply"}}]},
    "into an option": {
        "operations": [{**ARGS, "session": {"ref": [0, "members", "n2", "session"]}}]
    },
    "into an array": {"operations": [{**ARGS, "epoch": {"ref": [0, "orders", 0, "items", 1]}}]},
    "a dangling reference": {"operations": [ARGS, {**ARGS, "epoch": {"ref": [1, "open", "no"]}}]},
    "a reference to null": {"operations": [{**ARGS, "epoch": {"ref": [0, "members", "n1"]}}]},
    "no such step": {"operations": [{**ARGS, "epoch": {"ref": [1, "open", "true"]}}]},
    "no number": {"operations": [{**ARGS, "epoch": {"ref": [0, "sessions", 1], "plus": 1}}]},
    "never issued": {"operations": [{**ARGS, "epoch": {"never_issued": True}}]},
    "a fault": {"operations": [{**ARGS, "cookie": {"never_issued": True}}, ARGS]},
    "unsupported": {"operations": [ARGS, {**ARGS, "order": {"case": "clear_all"}}]},
    "an unknown operation": {"operations": [None]},
    "a field that is called ref": {
        "operations": [{**ARGS, "order": {"case": "refer", "ref": [0, 1], "at": "n1"}}]
    },
    "an error": {"operations": [{**ARGS, "cookie": "~broken"}]},
    "a large opaque number": {"operations": [], "given": {**GIVEN, "sessions": [f"@{LARGE}"]}},
    "a large number": {"operations": [{**ARGS, "epoch": LARGE}]},
    "nothing given": {"operations": [], "given": None},
    "no image": {"operations": [ARGS], "delta": []},
    "one image": {"operations": [ARGS], "delta": [1]},
}
SEEN = canonical.text(GIVEN)
SEEN_LARGE = canonical.text({**GIVEN, "sessions": [f"@{LARGE}"]})
BEGUN, DONE = [None, SEEN, SEEN], ["4", SEEN, SEEN]
ANSWERS = {
    "values": ("ok", [BEGUN, DONE]),
    "a reference": ("ok", [BEGUN, DONE, ["7", SEEN, SEEN]]),
    "a reference into a reply": ("ok", [BEGUN, DONE, ["6", SEEN, SEEN]]),
    "no reply yet": ("unresolved", [BEGUN]),
    "into an option": ("ok", [BEGUN, DONE]),
    "into an array": ("ok", [BEGUN, ["1", SEEN, SEEN]]),
    "a dangling reference": ("unresolved", [BEGUN, DONE]),
    "a reference to null": ("unresolved", [BEGUN]),
    "no such step": ("unresolved", [BEGUN]),
    "no number": ("unresolved", [BEGUN]),
    "never issued": ("ok", [BEGUN, ["999999999", SEEN, SEEN]]),
    "a fault": ("ok", [BEGUN, ['{"fault":"NoCookie","message":"never issued"}', None, None]]),
    "unsupported": ("unsupported", []),
    "an unknown operation": ("unsupported", []),
    "a field that is called ref": ("ok", [BEGUN, DONE]),
    "an error": ("error", []),
    "a large opaque number": ("ok", [[None, SEEN_LARGE, SEEN_LARGE]]),
    "a large number": ("ok", [BEGUN, [str(LARGE), SEEN, SEEN]]),
    "nothing given": ("not_loadable", []),
    "no image": ("ok", [[None, SEEN, None], ["4", SEEN, None]]),
    "one image": ("ok", [[None, SEEN, None], ["4", SEEN, SEEN]]),
}


@pytest.mark.parametrize("language", ["python", *SLOW])
def test_values_come_back_and_each_status_is_answered(tmp_path, monkeypatch, language):
    monkeypatch.setenv("CHARTER_CACHE", str(tmp_path / "cache"))
    tool, path = ADAPTERS[language]
    assert shutil.which(tool), f"{tool} is needed to build this adapter"
    folder = skeleton(language, tmp_path / "echo", ECHO / "echo.charter")
    shutil.copy(ECHO / Path(path).name, folder / path)
    start = prepare(read(folder / "adapter.toml"), "", {}).start
    welcome, run, again = tell_adapter(start, [{"hello": 1}, batch(1), batch(2)])
    assert (welcome["operations"], welcome["observes"]) == (["next"], [*GIVEN])
    inexact = {"a large number": ("error", [])} if language == "node" else {}
    assert read_answers(run) == ANSWERS | inexact
    if language == "go":  # the others have types for sets
        asked = question("twice", {"operations": [], "given": {**GIVEN, "sessions": ["@9", "@9"]}})
        _, twice = tell_adapter(start, [{"hello": 1}, {"run": 1, "questions": [asked]}])
        assert '"sessions":["@9","@9"]' in read_answers(twice)["twice"][1][0][1]
    (broken,) = [one["detail"] for one in run["results"] if one["id"] == "an error"]
    assert "it is broken" in broken
    files = {"node": "adapter.js", "python": "adapter.py", "java": "Main.java"}
    if language in files:
        assert re.search(rf"it is broken \({files[language]}:\d+\)$", broken)
    assert read_answers(again) == ANSWERS | inexact and again["run"] == 2
    welcome, *answers = tell_adapter(start, [{"hello": 1}, *session_messages()])
    assert welcome["sessions"] == 3
    assert read_sessions(answers[:-3]) == ANSWERS | inexact
    details = [[one["detail"] for one in answer["results"]] for answer in answers[-3:]]
    assert details == [["", "", "", "3 sessions are open"], [""], ["no session 0 is open"]]
    assert tell_adapter(start, [{"hello": 2}]) == [{"hello": 1}]
    if language == "rust":
        asked = question("panics", {"operations": [{**ARGS, "cookie": "~throws"}]})
        _, run = tell_adapter(start, [{"hello": 1}, {"run": 1, "questions": [asked]}])
        fault = '{"fault":"panic","message":"it throws"}'
        assert read_answers(run) == {"panics": ("ok", [BEGUN, [fault, None, None]])}


COMPILED = {
    "go": ("go", "vet", "./..."),
    "java": ("javac", "-d", "out", "-sourcepath", "src", "src/Main.java"),
    "node": ("node", "adapter.js"),
    "python": (sys.executable, "adapter.py"),
    "rust": ("cargo", "check"),
}


@pytest.mark.slow
@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("language", COMPILED)
def test_adapter_compiles_whose_names_are_all_those_of_its_sdk_and_language(
    tmp_path, language, role
):
    charter = tmp_path / "hostile.charter"
    charter.write_text(hostile_charter(language, role), encoding="utf-8")
    folder = skeleton(language, tmp_path / "hostile", charter)
    environment = {**os.environ, **python_path(), "CARGO_TARGET_DIR": str(tmp_path / "target")}
    done = subprocess.run(
        COMPILED[language], cwd=folder, input='{"bye":true}\n', text=True, capture_output=True,
        check=False, env=environment,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr


FORMATTERS = [
    pytest.param("go", ("gofmt", "-l", "."), marks=pytest.mark.slow),
    pytest.param("go", ("go", "vet", "./..."), marks=pytest.mark.slow),
    pytest.param("rust", ("cargo", "fmt", "--check"), marks=pytest.mark.slow),
    pytest.param(
        "node",
        ("npx", "--yes", "prettier@3", "--check", "**/*.js"),
        marks=[pytest.mark.slow, pytest.mark.network],
    ),
]


@pytest.mark.parametrize(("language", "command"), FORMATTERS)
def test_what_is_written_is_formatted_as_is_usual(tmp_path, language, command):
    assert shutil.which(command[0]), f"{command[0]} is needed to check what is written"
    folder = skeleton(language, tmp_path / "kinds", KINDS)
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert language == "node" or done.stdout == ""


def skeleton(language, folder, charter):
    """An adapter as `conform generate --adapter` writes it."""
    made = api.adapter_files(api.load(charter), language)
    files = {**made.types, **made.skeleton}
    write_skeleton(Skeleton(language, "echo", "sample.echo", made.component, files), folder)
    return folder


def batch(run):
    """The questions of one batch."""
    return {"run": run, "questions": [question(name, asked) for name, asked in ASKED.items()]}


def question(name, asked):
    calls = [
        {"operation": "next", "args": args} if args else {"operation": "fly", "args": {}}
        for args in asked["operations"]
    ]
    about = {"id": name, "nonce": f"n-{name}", "sorts": {"Node": {"n1": 0, "n2": 7}}}
    return {"given": GIVEN, "delta": "each", **about, **asked, "operations": calls}


def session_messages():
    """Each question as a session, three at once. The last three messages begin one more, ask a
    question, and take a step in a session that was open before."""
    several = [question(name, content) for name, content in ASKED.items()]
    calls = {one["id"]: one.pop("operations") for one in several}
    messages, ended = [], []
    for begin in range(0, len(several), 3):
        begun = several[begin : begin + 3]
        for number in range(max(1, *(len(calls[one["id"]]) for one in begun))):
            steps = [
                {"id": one["id"], "nonce": one["nonce"], **calls[one["id"]][number]}
                for one in begun
                if number < len(calls[one["id"]])
            ]
            first = number == 0
            messages.append({"end": ended if first else [], "begin": begun * first, "steps": steps})
        ended = [one["id"] for one in begun]
    four = [{**several[0], "id": f"{number}"} for number in range(4)]
    late = {"id": "0", "nonce": "n-0", **calls["values"][0]}
    messages += [
        {"end": ended, "begin": four, "steps": []},
        {"questions": [{**several[0], "operations": []}]},
        {"end": [], "begin": [], "steps": [late]},
    ]
    return [{"run": run, **message} for run, message in enumerate(messages)]


def read_sessions(answers):
    """What sessions showed up to their last step, as `read_answers` returns it of questions."""
    found, over = {}, set()
    for answer in answers:
        texts = [canonical.text(value) for value in answer["values"]]
        for result in answer["results"]:
            name, steps = result["id"], result["steps"]
            assert result["nonce"] == f"n-{name}"
            if name in over:
                assert result["status"] == "error", result
                continue
            shown = [[texts[i] if i >= 0 else None for i in step] for step in steps]
            before = found.get(name, ("", []))[1]
            is_read = result["status"] in ("ok", "unresolved")
            found[name] = (result["status"], [*before, *shown] if is_read else [])
            if result["status"] != "ok" or shown[0][1] is None:
                over.add(name)
    return found


def tell_adapter(start, messages):
    """What an adapter answers to messages, after which it is told to end."""
    lines = "".join(json.dumps(message) + "\n" for message in [*messages, {"bye": True}])
    done = subprocess.run(
        start.command,
        input=lines.encode(),
        stdout=subprocess.PIPE,
        env={**os.environ, **start.environment},
        timeout=60,
        check=True,
    )
    return [json.loads(line) for line in done.stdout.decode().splitlines()]


def read_answers(run):
    """Status and steps of each question, with the canonical texts of values."""
    texts = [json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
             for value in run["values"]]  # fmt: skip
    assert len(texts) == len(set(texts))
    for result in run["results"]:
        assert result["nonce"] == f"n-{result['id']}"
    return {
        result["id"]: (
            result["status"],
            [[texts[i] if i >= 0 else None for i in step] for step in result["steps"]],
        )
        for result in run["results"]
    }


@pytest.mark.slow
def test_a_value_that_json_lacks_is_an_error_with_its_place_in_javascript():
    codecs = resources.files("conform").joinpath("templates/adapters/node/charter/codecs.js")
    script = f"""
        import {{ int, map, name, record, set, union }} from {json.dumps(str(codecs))};
        const reply = record({{ by: ["by", map(name)] }});
        for (const by of [[["w1", undefined]], [["w1", "a"], ["w1", "b"]], [["w1", 1]]]) {{
          try {{ reply.encode({{ by }}); }} catch (error) {{ console.log(error.message); }}
        }}
        const mail = union({{ refused: record({{ error: ["error", name] }}) }});
        for (const value of [{{ case: "refussed" }}, {{ case: "refused", eror: "A" }}]) {{
          try {{ mail.encode(value); }} catch (error) {{ console.log(error.message); }}
        }}
        try {{ int.encode("1"); }} catch (error) {{ console.log(error.message); }}
        console.log(JSON.stringify(set(name).encode(["b", "a", "b"])));
    """
    command = ["node", "--input-type=module", "--eval", script]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.splitlines() == [
        "by: w1: undefined is no name", 'by: a map has the key "w1" twice', "by: w1: 1 is no name",
        '"refussed" is no case of refused',
        "error: undefined is no name; there is no error, but eror",
        '"1" is no integer between -2^53 and 2^53', '["a","b","b"]',
    ]  # fmt: skip


@pytest.mark.slow
def test_a_plain_object_is_neither_a_set_nor_a_map_nor_an_array_in_javascript():
    """`Array.from` takes it for an empty one, and an option would take what was forgotten for
    none."""
    codecs = resources.files("conform").joinpath("templates/adapters/node/charter/codecs.js")
    script = f"""
        import {{ list, map, name, option, record, set }} from {json.dumps(str(codecs))};
        const wrong = [
          [set(name), {{ s1: true }}], [map(name), {{ k1: "a" }}], [list(name), {{ 0: "a" }}],
          [set(name), "s1"], [set(name), undefined], [option(name), undefined],
        ];
        for (const [codec, value] of wrong) {{
          try {{ record({{ it: ["it", codec] }}).encode({{ it: value }}); }}
          catch (error) {{ console.log(error.message); }}
        }}
        console.log(JSON.stringify([set(name).encode(["b", "a"]), option(name).encode(null)]));
    """
    command = ["node", "--input-type=module", "--eval", script]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.splitlines() == [
        'it: {"s1":true} is no Set', 'it: {"k1":"a"} is no Map', 'it: {"0":"a"} is no array',
        'it: "s1" is no Set', "it: undefined is no Set",
        "it: undefined is no value; write null where there is none",
        '[["a","b"],null]',
    ]  # fmt: skip


@pytest.mark.slow
def test_a_misspelt_method_of_an_adapter_in_javascript_is_named(tmp_path, monkeypatch):
    monkeypatch.setenv("CHARTER_CACHE", str(tmp_path / "cache"))
    folder = skeleton("node", tmp_path / "echo", ECHO / "echo.charter")
    text = (ECHO / "adapter.js").read_text()
    (folder / "adapter.js").write_text(text.replace("next({", "nxet({"))
    start = prepare(read(folder / "adapter.toml"), "", {}).start
    asked = {"run": 1, "questions": [question("values", ASKED["values"])]}
    _, run = tell_adapter(start, [{"hello": 1}, asked])
    (result,) = run["results"]
    assert (result["status"], result["detail"]) == (
        "error", "the adapter has no method next; it has: start, observe, image, nxet",
    )  # fmt: skip
