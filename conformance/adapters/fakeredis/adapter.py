"""Drives consumer groups of a stream through a client of Redis: a server of this process
(fakeredis), one that it starts on a socket of its own, or one that runs already."""

from __future__ import annotations

import atexit
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

import fakeredis
import protocol
import redis

from conform import sdk

KEY = f"charter:{os.getpid()}"
"""The only key that is used: several processes may use a server that runs already."""
PATIENCE_S = 10.0
"""How long a server may take to start."""

ERRORS = {
    "BUSYGROUP": protocol.Error.BUSY_GROUP,
    "NOGROUP": protocol.Error.NO_GROUP,
    "The XGROUP subcommand requires the key to exist": protocol.Error.NO_KEY,
    "equal or smaller than the target stream top item": protocol.Error.SMALLER_ID,
}
"""What a message of Redis contains, and what the charter calls it."""


def error_of(problem: redis.ResponseError) -> protocol.Error:
    """The charter's name of an error. Raises `Fault` for one that has none."""
    for text, error in ERRORS.items():
        if text in str(problem):
            return error
    raise sdk.Fault(type(problem).__name__, str(problem))


def items(reply: object) -> list[object]:
    """A reply that is a list."""
    assert isinstance(reply, list), reply
    return reply


def text(reply: object) -> str:
    """A reply that is a text."""
    return reply.decode() if isinstance(reply, bytes) else str(reply)


def number(reply: object) -> int:
    """A reply that is a number."""
    assert isinstance(reply, int), reply
    return reply


def position(entry: object) -> int:
    """The number of an id, which is `N-0` here, or 0."""
    return int(text(entry).split("-")[0])


def fields(row: object) -> dict[str, object]:
    """A reply of XINFO as a mapping: a list of names and values, or a mapping."""
    if isinstance(row, dict):
        return {text(name): value for name, value in row.items()}
    flat = items(row)
    return {text(name): value for name, value in zip(flat[::2], flat[1::2], strict=True)}


def read_claimed(rows: object) -> frozenset[int]:
    """The ids of claimed entries: with their fields, or alone. Up to 6.2 a deleted one is nil."""
    found = (row for row in items(rows) if row is not None)
    return frozenset(position(items(row)[0] if isinstance(row, list) else row) for row in found)


class Adapter(protocol.Adapter):
    """Sends each operation as one command."""

    def __init__(self, client: redis.Redis) -> None:
        self.client = client
        client.response_callbacks.clear()  # replies as Redis writes them
        self.question: protocol.Question | None = None

    def start(self, question: protocol.Question) -> None:
        self.question = question
        self.ask("DEL", KEY)

    def ask(self, *command: object) -> object:
        """The reply of one command."""
        reply: object = self.client.execute_command(*command)  # type: ignore[no-untyped-call]
        return reply

    def observe(self) -> protocol.Observation:
        assert self.question is not None
        groups: dict[protocol.Group, protocol.State | None] = {}
        groups |= dict.fromkeys(self.question.sorts.group)
        if not self.ask("EXISTS", KEY):
            return protocol.Observation(False, frozenset(), 0, groups)
        entries = read_claimed(self.ask("XRANGE", KEY, "-", "+"))
        last = position(fields(self.ask("XINFO", "STREAM", KEY))["last-generated-id"])
        for row in items(self.ask("XINFO", "GROUPS", KEY)):
            about = fields(row)
            name = protocol.Group(text(about["name"]))
            groups[name] = self.state(name, position(about["last-delivered-id"]))
        return protocol.Observation(True, entries, last, groups)

    def state(self, group: protocol.Group, last: int) -> protocol.State:
        """The state of a group."""
        assert self.question is not None
        consts = self.question.consts
        pending: dict[int, protocol.Pending | None] = dict.fromkeys(range(1, consts.max_id + 1))
        for row in items(self.ask("XPENDING", KEY, group, "-", "+", 99)):
            entry, owner, _, count = items(row)
            shown = min(number(count), consts.most_deliveries)
            pending[position(entry)] = protocol.Pending(protocol.Consumer(text(owner)), shown)
        rows = items(self.ask("XINFO", "CONSUMERS", KEY, group))
        consumers = frozenset(protocol.Consumer(text(fields(row)["name"])) for row in rows)
        return protocol.State(last, consumers, pending)

    def reply(self, *command: object) -> protocol.Reply:
        """A command that replies with a number, OK, an id or nothing."""
        try:
            found = self.ask(*command)
        except redis.ResponseError as problem:
            return protocol.Rejected(error_of(problem))
        if found is None:
            return protocol.Nothing()
        if isinstance(found, int) and not isinstance(found, bool):
            return protocol.Number(found)
        return protocol.Done()

    def xadd(self, id: int, make: bool) -> protocol.Reply:
        return self.reply("XADD", KEY, *([] if make else ["NOMKSTREAM"]), f"{id}-0", "f", "v")

    def xdel(self, id: int) -> protocol.Reply:
        return self.reply("XDEL", KEY, f"{id}-0")

    def xtrim(self, maxlen: int) -> protocol.Reply:
        return self.reply("XTRIM", KEY, "MAXLEN", maxlen)

    def del_(self) -> protocol.Reply:
        return self.reply("DEL", KEY)

    def create(self, g: protocol.Group, at: int | None, make: bool) -> protocol.Reply:
        where = "$" if at is None else f"{at}-0"
        return self.reply("XGROUP", "CREATE", KEY, g, where, *(["MKSTREAM"] if make else []))

    def setid(self, g: protocol.Group, at: int | None) -> protocol.Reply:
        return self.reply("XGROUP", "SETID", KEY, g, "$" if at is None else f"{at}-0")

    def destroy(self, g: protocol.Group) -> protocol.Reply:
        return self.reply("XGROUP", "DESTROY", KEY, g)

    def createconsumer(self, g: protocol.Group, c: protocol.Consumer) -> protocol.Reply:
        return self.reply("XGROUP", "CREATECONSUMER", KEY, g, c)

    def delconsumer(self, g: protocol.Group, c: protocol.Consumer) -> protocol.Reply:
        return self.reply("XGROUP", "DELCONSUMER", KEY, g, c)

    def read(self, *command: object) -> protocol.Read:
        """A command that replies with entries of the stream."""
        try:
            found = self.ask("XREADGROUP", "GROUP", *command)
        except redis.ResponseError as problem:
            if error_of(problem) is protocol.Error.NO_GROUP:
                return protocol.NoGroup()
            raise sdk.Fault(type(problem).__name__, str(problem)) from None
        if not found:
            return protocol.NoneNew()
        (rows,) = found.values() if isinstance(found, dict) else [items(items(found)[0])[1]]
        entries = {position(items(row)[0]): bool(items(row)[1]) for row in items(rows)}
        here = frozenset(entry for entry, has_fields in entries.items() if has_fields)
        return protocol.Entries(here, frozenset(entries) - here)

    def read_new(
        self, g: protocol.Group, c: protocol.Consumer, count: int, noack: bool
    ) -> protocol.Read:
        extra = ["NOACK"] if noack else []
        return self.read(g, c, "COUNT", count, *extra, "STREAMS", KEY, ">")

    def read_history(
        self, g: protocol.Group, c: protocol.Consumer, after: int, count: int
    ) -> protocol.Read:
        return self.read(g, c, "COUNT", count, "STREAMS", KEY, f"{after}-0")

    def xack(self, g: protocol.Group, id: int) -> protocol.Reply:
        return self.reply("XACK", KEY, g, f"{id}-0")

    def xclaim(
        self, g: protocol.Group, c: protocol.Consumer, id: int, force: bool, justid: bool
    ) -> protocol.Claimed:
        extra = [*(["FORCE"] if force else []), *(["JUSTID"] if justid else [])]
        try:
            found = self.ask("XCLAIM", KEY, g, c, 0, f"{id}-0", *extra)
        except redis.ResponseError as problem:
            return protocol.NoneOf(error_of(problem))
        return protocol.Claimed_(read_claimed(found))

    def xautoclaim(
        self, g: protocol.Group, c: protocol.Consumer, from_: int, count: int, justid: bool
    ) -> protocol.Swept:
        extra = ["JUSTID"] if justid else []
        try:
            found = items(
                self.ask("XAUTOCLAIM", KEY, g, c, 0, f"{from_}-0", "COUNT", count, *extra)
            )
        except redis.ResponseError as problem:
            return protocol.NotSwept(error_of(problem))
        deleted = read_claimed(found[2]) if len(found) > 2 else frozenset[int]()
        return protocol.Swept_(read_claimed(found[1]), deleted, position(found[0]))

    def xpending(self, g: protocol.Group, of: protocol.Consumer | None) -> protocol.Claimed:
        try:
            found = self.ask("XPENDING", KEY, g, "-", "+", 99, *([] if of is None else [of]))
        except redis.ResponseError as problem:
            return protocol.NoneOf(error_of(problem))
        return protocol.Claimed_(read_claimed(found))

    def info_lag(self, g: protocol.Group) -> protocol.Lag:
        if not self.ask("EXISTS", KEY):
            return protocol.NoSuch()
        for row in items(self.ask("XINFO", "GROUPS", KEY)):
            about = fields(row)
            if text(about["name"]) == g:
                lag = about.get("lag")
                return protocol.Unknown() if lag is None else protocol.Lag_(number(lag))
        return protocol.NoSuch()


def start_server(program: str) -> redis.Redis:
    """Start a server on a socket in a temporary folder; it ends with this process."""
    folder = tempfile.TemporaryDirectory()
    socket = Path(folder.name) / "socket"
    options = ["--port", "0", "--unixsocket", str(socket), "--save", "", "--dir", folder.name]
    server = subprocess.Popen([program, *options], stdout=subprocess.DEVNULL)

    def stop() -> None:
        server.terminate()
        server.wait()
        folder.cleanup()

    atexit.register(stop)
    until = time.monotonic() + PATIENCE_S
    while not socket.exists():
        if server.poll() is not None or time.monotonic() > until:
            raise SystemExit(f"{program} does not start")
        time.sleep(0.01)
    return redis.Redis(unix_socket_path=str(socket), protocol=2)


def reach_server(url: str) -> redis.Redis:
    """A server that runs already; it is left without our key."""
    client = redis.Redis.from_url(url, protocol=2)
    try:
        client.ping()
    except redis.RedisError as problem:
        raise SystemExit(f"no server answers at {url}: {problem}") from None
    atexit.register(client.delete, KEY)
    return client


def find_server(program: str, url: str) -> tuple[redis.Redis, str]:
    """The server to judge, and what it is called."""
    if url:
        return reach_server(url), url
    if program:
        return start_server(program), Path(program).name
    return fakeredis.FakeRedis(), "fakeredis"


def version_of(client: redis.Redis) -> str:
    """The version of the server as it says."""
    if isinstance(client, fakeredis.FakeRedis):
        return str(fakeredis.__version__)
    about: Mapping[str, object] = client.info("server")
    return str(about.get("valkey_version", about["redis_version"]))


def main() -> None:
    """Serve the server that the arguments name; without any, one of this process."""
    client, name = find_server(*(sys.argv[1:] or ("", "")))
    protocol.serve(protocol.about(name, version_of(client)), Adapter(client))


if __name__ == "__main__":
    main()
