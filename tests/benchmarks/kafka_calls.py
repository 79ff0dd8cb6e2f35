"""Translates recorded calls of Kafka's controller into questions of the charter: one operation in a
given state. What the charter has no words for is left out, with the reason."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from tests.benchmarks.kafka_states import (
    MIN_ISR_MAX,
    Call,
    Data,
    LeftOut,
    Names,
    SingleQuestion,
    as_data,
    as_epoch,
    as_id,
    as_ids,
    as_list,
    as_number,
    divide,
    list_groups,
)

from charter.formats.canonical import Json

NEVER = "~1000000000000"
"""The id of a topic that never existed."""
_MIN_ISR, _UNCLEAN = "min.insync.replicas", "unclean.leader.election.enable"
_ELR = "eligible.leader.replicas.version"
_TWICE = "a list that names a broker twice"
Steps = Iterator[SingleQuestion | LeftOut]


def translate(line: Data) -> Iterator[SingleQuestion | LeftOut]:
    """The questions of one recorded call, or why there is none."""
    method = str(line["method"])
    if "unread" in line:
        yield LeftOut("the recorder could not read it")
        return
    call = Call(
        as_data(line["request"]),
        as_data(line["before"]),
        str(line["thrown"]),
        as_data(line["done"]),
    )
    make = _MAKERS.get(method)
    if make is None:
        yield LeftOut(f"the charter has no `{method}`")
        return
    steps = make(call)
    while True:
        try:
            yield next(steps)
        except LeftOut as reason:
            yield reason
            return
        except StopIteration:
            return


def _give(args: Data) -> Callable[[Names], Data]:
    """Arguments that name no broker."""
    return lambda names: args


def _refuse_thrown(call: Call, *known: str) -> None:
    if call.thrown not in ("", *known):
        raise LeftOut(f"refused for what the charter does not have: {call.thrown}")


# --- brokers -------------------------------------------------------------------------------------


def _register(call: Call) -> Steps:
    _refuse_thrown(call, "DuplicateBrokerRegistrationException")
    request, broker = call.request, as_id(call.request["broker"])
    known = call.brokers.get(broker)
    restarted = known is None or known["incarnation"] != request["incarnation"]
    if known is not None and restarted:
        if not known["fenced"] and not known.get("session"):
            raise LeftOut("a session that has timed out, of a broker that is not fenced yet")
        if known["fenced"] and not request["detects"]:
            raise LeftOut("a registration that does not say how the broker stopped")
    previous = as_epoch(request["previous_epoch"])

    def args(names: Names) -> Data:
        named = names.of(broker)
        return {"broker": named, "restarted": restarted, "previous_epoch": previous}

    last = as_number(request["new_epoch"]) - 1
    for parts in list_groups(call, broker):
        yield call.ask("register", args, parts, [broker], last)


def _heartbeat(call: Call) -> Steps:
    _refuse_thrown(call, "StaleBrokerEpochException", "BrokerIdNotRegisteredException")
    request, broker = call.request, as_id(call.request["broker"])
    if request["directories_failed"]:
        raise LeftOut("a heartbeat that reports failed directories")
    read = as_number(request["read"])
    stops = [as_number(one.get("shutdown_at") or 0) for one in call.brokers.values()]
    caught_up = read >= max([as_number(request["registered_at"]), *stops])

    def args(names: Names) -> Data:
        return {
            "broker": names.of(broker),
            "epoch": f"@{request['epoch']}",
            "caught_up": caught_up,
            "want_fence": request["want_fence"],
            "want_shut_down": request["want_shut_down"],
        }

    for parts in list_groups(call, broker):
        yield call.ask("heartbeat", args, parts, [broker])


def _expires(call: Call) -> Steps:
    _refuse_thrown(call)
    fenced = as_ids(call.done["fenced"])
    if not fenced:
        raise LeftOut("a look for ended sessions that finds none")
    for parts in list_groups(call, fenced[0]):
        yield call.ask("session_expires", lambda n: {"broker": n.of(fenced[0])}, parts, fenced[:1])


def _unregister(call: Call) -> Steps:
    _refuse_thrown(call, "BrokerIdNotRegisteredException")
    broker = call.request["broker"]
    for parts in list_groups(call, as_id(broker)):
        yield call.ask("unregister", lambda n: {"broker": n.of(broker)}, parts, [broker])


def _failover(call: Call) -> Steps:
    if not call.brokers:
        raise LeftOut("a controller that begins in an empty cluster")
    for parts in list_groups(call, None):
        yield call.ask("failover", _give({}), parts)


# --- partitions ----------------------------------------------------------------------------------


def _alter(call: Call) -> Steps:
    _refuse_thrown(call, "StaleBrokerEpochException")
    for part in map(as_data, as_list(call.request["parts"])):
        isr = [as_number(as_list(pair)[0]) for pair in as_list(part["isr"])]
        if len({*isr}) < len(isr):
            yield LeftOut(_TWICE)
            continue
        if part["recovery"] not in (0, 1):
            yield LeftOut("a recovery state that does not exist")
            continue
        own = [p for p in call.list_parts() if p.topic_id == part["topic_id"]]
        found = [p for p in own if p.index == str(part["part"])]
        if own and not found:
            yield LeftOut("a partition that its topic does not have")
            continue
        args = _propose(call, part, known=bool(found))
        yield call.ask("alter_partition", args, found, [call.request["from"], *isr])


def _propose(call: Call, part: Data, *, known: bool) -> Callable[[Names], Data]:
    epochs = {one: as_epoch(epoch) for one, epoch in map(as_list, as_list(part["isr"]))}

    def args(names: Names) -> Data:
        return {
            "from": names.of(call.request["from"]),
            "broker_epoch": f"@{call.request['epoch']}",
            "topic_id": "~1" if known else NEVER,
            "leader_epoch": part["leader_epoch"],
            "partition_epoch": part["partition_epoch"],
            "isr": [names.of(one) for one in epochs],
            "isr_epochs": names.map(epochs.get),
            "recovering": part["recovery"] == 1,
        }

    return args


def _elect(call: Call) -> Steps:
    _refuse_thrown(call)
    named = [call.find(p["topic"], p["part"]) for p in map(as_data, as_list(call.request["parts"]))]
    chosen = [[part] for part in call.list_parts()] if call.request["all"] else named
    args: Data = {"topic": "t0", "unclean": call.request["unclean"]}
    for parts in chosen:
        yield call.ask("elect_leader", _give(args), parts)


def _concern_all(operation: str) -> Callable[[Call], Steps]:
    """Makes questions of an operation that concerns all partitions."""

    def ask(call: Call) -> Steps:
        _refuse_thrown(call)
        for parts in list_groups(call, None):
            yield call.ask(operation, _give({}), parts)

    return ask


def _reassign(call: Call) -> Steps:
    _refuse_thrown(call)
    for part in map(as_data, as_list(call.request["parts"])):
        found, target = call.find(part["topic"], part["part"]), part["target"]
        if target is None:
            yield call.ask("cancel_reassignment", _give({"topic": "t0"}), found)
            continue
        ids = as_list(target)
        if len({*as_ids(target)}) < len(ids):
            yield LeftOut(_TWICE)
            continue

        def args(names: Names, target: Json = target) -> Data:
            return {"topic": "t0", "target": names.all(target)}

        yield call.ask("reassign", args, found, ids)


def _create(call: Call) -> Steps:
    _refuse_thrown(call)
    made = [as_data(one) for one in as_list(call.done["made"])]
    for topic in map(as_data, as_list(call.request["topics"])):
        name = topic["name"]
        there = [p for p in call.list_parts() if p.topic == name][:1]
        given = [as_ids(one) for one in as_list(topic["assignments"])]
        chosen = [as_ids(one["replicas"]) for one in made if one["topic"] == name]
        if there:
            chosen = (given or [as_ids(there[0].values["replicas"])])[:1]
        elif not chosen:
            chosen = [ids for ids in given if _is_invalid(call, ids)][:1]
            if not chosen:
                yield LeftOut("a topic that is refused, or only validated, for other reasons")
        for ids in chosen:
            if len({*ids}) < len(ids):
                yield LeftOut(_TWICE)
                continue

            def args(names: Names, ids: list[int] = ids) -> Data:
                return {"topic": "t0", "replicas": [names.of(one) for one in ids]}

            yield call.ask("create_topic", args, there, ids)


def _is_invalid(call: Call, ids: Iterable[int]) -> bool:
    """Whether the charter refuses these replicas."""
    found = [call.brokers.get(one) for one in ids]
    active = [one for one in found if one and not one["fenced"] and not one["shutting_down"]]
    return None in found or not active


def _delete(call: Call) -> Steps:
    _refuse_thrown(call)
    for topic_id in as_list(call.request["ids"]):
        own = [p for p in call.list_parts() if p.topic_id == topic_id]
        for parts in [[part] for part in own] or [[]]:
            args: Data = {"topic_id": "~1" if parts else NEVER}
            yield call.ask("delete_topic", _give(args), parts)


# --- configuration -------------------------------------------------------------------------------


def _configure(call: Call) -> Steps:
    _refuse_thrown(call)
    for change in map(as_data, as_list(call.request["changes"])):
        try:
            operation, args = _setting(change)
        except LeftOut as reason:
            yield reason
            continue
        parts = [p for p in call.list_parts() if change["name"] in ("", p.topic)]
        for group in divide(parts):
            yield call.ask(operation, _give(args), group)


def _setting(change: Data) -> tuple[str, Data]:
    if change["key"] not in (_MIN_ISR, _UNCLEAN):
        raise LeftOut("a setting that the charter does not have")
    if change["how"] != "SET" or (change["type"] == "BROKER" and change["name"]):
        raise LeftOut("a setting that is removed, or is of one broker")
    value = str(change["value"])
    if change["key"] == _UNCLEAN and value in ("true", "false"):
        return "set_unclean_election", {"enabled": value == "true"}
    if change["key"] == _MIN_ISR and value.isdigit() and 1 <= int(value) <= MIN_ISR_MAX:
        return "set_min_isr", {"minimum": int(value)}
    raise LeftOut("a value that the charter does not have")


def _update(call: Call) -> Steps:
    _refuse_thrown(call)
    features = as_data(call.request["features"])
    if _ELR not in features or call.request["only_validated"]:
        raise LeftOut("a feature that the charter does not have, or only validated")
    for parts in divide(call.list_parts()):
        yield call.ask("set_elr", _give({"enabled": as_number(features[_ELR]) > 0}), parts)


_MAKERS: Mapping[str, Callable[[Call], Steps]] = {
    "registerBroker": _register,
    "processBrokerHeartbeat": _heartbeat,
    "maybeFenceOneStaleBroker": _expires,
    "unregisterBroker": _unregister,
    "activate": _failover,
    "alterPartition": _alter,
    "electLeaders": _elect,
    "maybeBalancePartitionLeaders": _concern_all("balance_leaders"),
    "maybeElectUncleanLeaders": _concern_all("elect_uncleanly"),
    "alterPartitionReassignments": _reassign,
    "createTopics": _create,
    "deleteTopics": _delete,
    "incrementalAlterConfigs": _configure,
    "incrementalAlterConfig": _configure,
    "updateFeatures": _update,
}
