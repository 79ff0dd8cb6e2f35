"""`python fake.py MODE`: an adapter of the toy protocol that misbehaves in one way.

Where it says "poison" only questions that contain the operation `failover` are affected.
"""

import json
import os
import sys
import time

from tests.support.toy import charter

from conform import sdk
from conform.adapters.reference import Reference

POISON = "failover"
HOSTILE = "\x1b]0;owned\x07\x9b2J\rok\u202e\u2066\nfine: no deviation from the charter"


class Fake(Reference):
    """An adapter without faults; subclasses each change one thing."""

    model_module = charter

    def __init__(self):
        super().__init__(self.model_module)
        self.about = sdk.About(
            "fake", "1.0", "keeper", self.model.OPERATIONS, self.model.OBSERVES, ("load", "image")
        )

    def image(self):
        return self.observe()


class Wrong(Fake):
    def observe(self):
        return {**super().observe(), "version": 99}


class KeepsLeader(Fake):
    def __init__(self):
        from tests.support.toy import keeps_leader  # fakes start often, and most need it not

        self.model_module = keeps_leader
        super().__init__()


class Faults(Fake):
    def perform(self, operation, args):
        if operation == POISON:
            raise sdk.Fault("java.lang.IllegalStateException", f"at 0x{time.time_ns():x}")
        return super().perform(operation, args)


class WrongImage(Fake):
    def image(self):
        return {"version": self.state.version + (self.state.leader is not None)}


class BrokenImage(Fake):
    """Writes an unreadable record on a failover: the image fails from then on."""

    broken = False

    def start(self, question):
        self.broken = False
        super().start(question)

    def perform(self, operation, args):
        self.broken |= operation == POISON
        return super().perform(operation, args)

    def image(self):
        fault = {"fault": "java.lang.IllegalStateException", "message": "at 0x17"}
        return fault if self.broken else super().image()


class Unresolved(Fake):
    def perform(self, operation, args):
        if operation == POISON:
            raise sdk.Unresolved("nothing stands there")
        return super().perform(operation, args)


class Refuses(Fake):
    """Calls what it would do wrong unsupported, for a reason that cannot be checked."""

    word = "quorum"

    def perform(self, operation, args):
        if operation == POISON:
            raise sdk.Unsupported(self.word)
        return super().perform(operation, args)


class ClaimsAndRefuses(Refuses):
    word = POISON


class Hostile(Refuses):
    """Every text that it gives would steer a terminal or turn the direction of a line."""

    word = HOSTILE

    def __init__(self):
        super().__init__()
        known = self.model.OPERATIONS
        self.about = sdk.About(HOSTILE, HOSTILE, "keeper", known, self.model.OBSERVES)

    def observe(self):
        return {**super().observe(), HOSTILE: HOSTILE}


class NotLoadable(Fake):
    def start(self, question):
        raise sdk.NotLoadable("version was 3, is 0")


class IgnoresGiven(Fake):
    """Claims to load given states, and begins from nothing."""

    def start(self, question):
        super().start(question._replace(given=None))


class Errs(Fake):
    def perform(self, operation, args):
        if operation == POISON:
            raise KeyError(operation)
        return super().perform(operation, args)


class CannotBegin(Fake):
    """Fails at the beginning of each question."""

    def start(self, question):
        raise KeyError("worker")


class Mistyped(Fake):
    """Says the epoch as a number."""

    def perform(self, operation, args):
        reply = super().perform(operation, args)
        if operation == "register":
            return {**reply, "epoch": 0}
        return reply


class Misnamed(Fake):
    """Its hello has a name that the charter does not have."""

    def __init__(self):
        super().__init__()
        operations = ("regster", *self.model.OPERATIONS)
        self.about = sdk.About("fake", "1.0", "keeper", operations, self.model.OBSERVES)


class OtherComponent(Fake):
    """Its hello names a component that the suite is not about."""

    def __init__(self):
        super().__init__()
        self.about = self.about._replace(component="register")


class WrongError(Fake):
    """Says NOT_LEADER where nobody can be elected."""

    def perform(self, operation, args):
        reply = super().perform(operation, args)
        nobody = reply == {"case": "rejected", "error": "NOBODY"}
        return {"case": "rejected", "error": "NOT_LEADER"} if nobody else reply


class Leaks(Fake):
    """Says NOT_LEADER where nobody can be elected, if an earlier question had a failover."""

    failed = leaked = False

    def start(self, question):
        self.leaked |= self.failed
        super().start(question)

    def perform(self, operation, args):
        self.failed |= operation == POISON
        reply = super().perform(operation, args)
        nobody = self.leaked and reply == {"case": "rejected", "error": "NOBODY"}
        return {"case": "rejected", "error": "NOT_LEADER"} if nobody else reply


class Remembers(Fake):
    """Knows of each question of a line whether it was asked before, and how many steps are left."""

    coming, again, left = (), False, 0

    def start(self, question):
        (self.again, self.left), *Remembers.coming = Remembers.coming
        super().start(question)

    def perform(self, operation, args):
        self.left -= 1
        return super().perform(operation, args)


def remember(line):
    """LOG has the ids of the questions that were asked, also in earlier runs."""
    with open(sys.argv[2], "a+") as memory:
        memory.seek(0)
        known = memory.read().split()
        asked = json.loads(line).get("questions", ())
        Remembers.coming = [(one["id"] in known, len(one["operations"])) for one in asked]
        memory.write("".join(f"{one['id']} " for one in asked))


class WrongFirst(Remembers):
    """Says NOT_LEADER where nobody can be elected, the first time that it is asked."""

    def perform(self, operation, args):
        reply = super().perform(operation, args)
        nobody = not self.again and reply == {"case": "rejected", "error": "NOBODY"}
        return {"case": "rejected", "error": "NOT_LEADER"} if nobody else reply


class WrongAgain(Remembers):
    """Shows another version after the last step of a question that was put to it before."""

    def observe(self):
        shown = super().observe()
        return {**shown, "version": 99} if self.again and not self.left else shown


class Noisy(Fake):
    def start(self, question):
        sys.stderr.write("WARN nothing to see here\n" * 5000)
        sys.stderr.flush()
        super().start(question)


class NoLoad(Fake):
    def __init__(self):
        super().__init__()
        self.about = sdk.About("fake", "1.0", "keeper", ("register", "elect"), self.model.OBSERVES)


class Partial(Fake):
    """Does not show the registrations, and so no epochs but in replies."""

    shown = ("leader", "version")

    def __init__(self):
        super().__init__()
        self.about = sdk.About("fake", "1.0", "keeper", self.model.OPERATIONS, self.shown)

    def observe(self):
        return {name: value for name, value in super().observe().items() if name in self.shown}


class Lacking(Fake):
    """Claims the version in hello, and does not show it."""

    def observe(self):
        return {name: value for name, value in super().observe().items() if name != "version"}


class LackingAndPartial(Lacking):
    """Does not claim the registrations, either."""

    def __init__(self):
        super().__init__()
        self.about = self.about._replace(observes=("leader", "version"), capabilities=())


class Unversioned(Partial):
    """Does not show the version, which an election changes without saying so."""

    shown = ("leader", "registration")


class Leaderless(Fake):
    """Does not observe the leader."""

    def __init__(self):
        super().__init__()
        shown = ("registration", "version")
        self.about = sdk.About("fake", "1.0", "keeper", self.model.OPERATIONS, shown)

    def observe(self):
        whole = super().observe()
        return {name: whole[name] for name in self.about.observes}


def crash(line):
    if POISON in line:
        sys.stderr.write("Segmentation fault, says the fake\n")
        sys.stderr.flush()
        os._exit(139)


def always_crash(line):
    if '"run"' in line:
        os._exit(3)


def hang(line):
    if POISON in line:
        time.sleep(3600)


def slow(line):
    if '"run"' in line:
        time.sleep(0.02)


def endless(line):
    """Writes a line that does not end."""
    if POISON in line:
        for _ in range(33):
            sys.stdout.write("[" * (1 << 20))
            sys.stdout.flush()
        time.sleep(3600)


def garbage(line):
    if POISON in line:
        sys.stdout.write("Exception in thread main: not JSON at all\n")
        sys.stdout.flush()


def nonsense(line):
    """Answers nothing but hello, in words."""
    if '"run"' in line:
        sys.stdout.write("it went well\n")
        sys.stdout.flush()
        os._exit(0)


def flaky(line):
    """Fails on every batch of more than one question, never on a single one."""
    if '"run"' in line and len(json.loads(line)["questions"]) > 1:
        os._exit(1)


ARGUMENTS = {"register": {"node"}, "expire": {"node"}, "write": {"node", "epoch", "version"}}


def check_arguments(line):
    """Ends where an operation does not have its arguments, as a typed language may."""
    for question in json.loads(line).get("questions", ()):
        for call in question["operations"]:
            if set(call["args"]) != ARGUMENTS.get(call["operation"], set(call["args"])):
                os._exit(1)


def once(line):
    """Fails on a question that it or an earlier process has been asked before; LOG records them."""
    asked = [question["id"] for question in json.loads(line).get("questions", ())]
    with open(sys.argv[2], "r+") as memory:
        if set(asked) & set(memory.read().split()):
            os._exit(1)
        memory.write("".join(f" {each}" for each in asked))


def eats_suite(line):
    """Deletes a file of the suite during the run."""
    if '"run"' in line:
        import shutil  # fakes start often
        from pathlib import Path

        for path in sorted(Path(sys.argv[2]).glob("suites-1/*/bucket=*"))[-1:]:
            shutil.rmtree(path)


def leaves_others(line):
    """Starts a process in a session of its own, which holds no pipe; LOG, if given, records it."""
    if "hello" in line:
        import subprocess

        null = subprocess.DEVNULL
        child = subprocess.Popen(["sleep", "3600"], stdin=null, stdout=null, stderr=null,
                                 start_new_session=True)  # fmt: skip
        if sys.argv[2:]:
            with open(sys.argv[2], "a") as file:
                file.write(f"{child.pid}\n")


BEFORE = {
    "wrong_first": remember,
    "wrong_again": remember,
    "leaves_others": leaves_others,
    "eats_suite": eats_suite,
    "once": once,
    "typed": check_arguments,
    "crash": crash,
    "always_crash": always_crash,
    "hang": hang,
    "garbage": garbage,
    "endless": endless,
    "slow": slow,
    "flaky": flaky,
    "nonsense": nonsense,
}


def bad_nonce(answer):
    for result in answer.get("results", ()):
        result["nonce"] = "always the same"


def too_few(answer):
    answer.get("results", []).clear()


def no_steps(answer):
    for result in answer.get("results", ()):
        result["steps"].clear()


def bad_index(answer):
    for result in answer.get("results", ()):
        if len(result["steps"]) > 1:
            result["steps"][1][1] = 10_000


def too_short(answer):
    for result in answer.get("results", ()):
        del result["steps"][-1]


def other_version(answer):
    if "version" in answer:
        answer["version"] = "0.9"


def never_shown(answer):
    for result in answer.get("results", ()):
        for step in result["steps"]:
            step[2] = -1


def show_once(answer):
    for result in answer.get("results", ()):
        for step in result["steps"][1:]:
            step[2] = -1


def swap(answer):
    """Swaps the answers of each batch of several questions."""
    results = answer.get("results", [])
    results.reverse()


AFTER = {"never_shown": never_shown, "shown_once": show_once, "swapped": swap,
         "bad_nonce": bad_nonce, "no_steps": no_steps, "too_few": too_few, "bad_index": bad_index,
         "too_short": too_short, "lies": other_version}  # fmt: skip
KINDS = {
    "wrong": Wrong, "keeps_leader": KeepsLeader, "faults": Faults, "wrong_image": WrongImage,
    "broken_image": BrokenImage,
    "unresolved": Unresolved, "not_loadable": NotLoadable,
    "ignores_given": IgnoresGiven, "errs": Errs, "cannot_begin": CannotBegin, "noisy": Noisy,
    "mistyped": Mistyped, "misnamed": Misnamed, "wrong_error": WrongError,
    "refuses": Refuses, "claims_and_refuses": ClaimsAndRefuses,
    "hostile": Hostile, "no_load": NoLoad, "partial": Partial, "leaderless": Leaderless,
    "unversioned": Unversioned, "leaks": Leaks, "lacking": Lacking,
    "lacking_and_partial": LackingAndPartial, "wrong_first": WrongFirst,
    "wrong_again": WrongAgain,
}  # fmt: skip


def main(mode, log=""):
    if log and mode != "eats_suite":
        with open(log, "a+") as file:
            file.write(f"{os.getpid()}\n")
            file.seek(0)
            starts = len(file.readlines())
        if mode == "once_up" and starts > 1:
            os._exit(7)
    if mode == "deaf":
        time.sleep(3600)
    if mode == "mute":
        return
    server = sdk.Server(KINDS.get(mode, Fake), 4)
    for line in sys.stdin:
        BEFORE.get(mode, lambda _: None)(line)
        message = json.loads(line)
        if "bye" in message:
            return
        answer = server.answer(message)
        lie = mode.removeprefix("poisoned_") if POISON in line else mode
        AFTER.get(lie, lambda _: None)(answer)
        text = json.dumps(answer)
        if mode == "twice":
            text = text.replace('"leader": null', '"leader": null, "leader": null')
        sys.stdout.write(text + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
