"""Prints one compilation unit: the instance's functions as IR, and what they share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from charter.core import small as s
from charter.core import types as t
from charter.diagnostics import Span
from charter.explore.native.emit.code import Code, Pointer, array
from charter.explore.native.memory.layout import Layout
from charter.explore.native.memory.machine_context import MARGIN, ROWS_ROOM
from charter.semantics.machine import Machine

ROWS_OF_CALL = 64
"""Outcomes of one call inside a step."""

FATAL_RANGE = 1
FATAL_ROWS = 2
FATAL_COUNTER = 3
FATAL_SUCCESSORS = 4
FATAL_OFFERS = 5
FATAL_CUT = 6

WHY: Mapping[int, str] = {
    FATAL_RANGE: "a number outside the range of its type",
    FATAL_ROWS: f"a call of an operation in a step with more than {ROWS_OF_CALL} outcomes, or an"
    f" operation or step with more than {ROWS_ROOM:,} for one list of arguments",
    FATAL_COUNTER: "a counter past 63",
    FATAL_SUCCESSORS: f"a state with more than {MARGIN:,} successors",
    FATAL_OFFERS: "an operation with too many arguments",
    FATAL_CUT: "a step that the instance leaves out, and that the engine does not support",
}


@dataclass(slots=True)
class Unit:
    """`sites` are the places where a charter may ask for a value that does not exist: number 1 is
    the first. `functions` is the text so far. What guards read is written to `trail` in the context
    (-1: nowhere)."""

    machine: Machine[s.Expr, s.Statement]
    layout: Layout
    functions: list[str] = field(default_factory=list)
    tables: dict[tuple[int, ...], Pointer] = field(default_factory=dict)
    sites: list[str] = field(default_factory=list)
    labels: list[str] = field(default_factory=list)
    printed: set[str] = field(default_factory=set)
    trail: int = -1
    declared: Mapping[str, s.Function] = field(init=False)
    """The declared functions by their names."""

    def __post_init__(self) -> None:
        self.declared = {f.name: f for f in self.model.functions}

    @property
    def model(self) -> s.Model:
        """The model."""
        return self.machine.model

    def site(self, why: str, span: Span) -> int:
        """The number of a place where evaluation can fail."""
        text = f"{span.where()}: {why}"
        if text not in self.sites:
            self.sites.append(text)
        return self.sites.index(text) + 1

    def label(self, branch: str) -> int:
        """The number of a branch or step."""
        if branch not in self.labels:
            self.labels.append(branch)
        return self.labels.index(branch)

    def table(self, rows: Iterable[int]) -> Pointer:
        """A constant array of numbers."""
        key = tuple(rows)
        known = self.tables.get(key)
        if known is None:
            known = self.tables[key] = Pointer(f"@c{len(self.tables)}")
        return known

    def domain(self, kind: t.Type) -> Pointer:
        """A constant array of all values of a type, each laid out in slots."""
        members = self.layout.domain(kind)
        return self.table(slot for member in members for slot in self.layout.encode(kind, member))

    def add(self, code: Code) -> None:
        """Add a finished function."""
        self.functions.append(code.text())

    def text(self) -> str:
        """The whole module."""
        constants = [array(name, rows) for rows, name in self.tables.items()]
        return "\n".join([PRELUDE, *constants, *self.functions])


PRELUDE = """
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
declare void @llvm.prefetch.p0(ptr, i32, i32, i32)
declare i32 @memcmp(ptr, ptr, i64)
declare i64 @llvm.cttz.i64(i64, i1)
declare i64 @llvm.ctlz.i64(i64, i1)
declare i64 @llvm.ctpop.i64(i64)
declare i64 @llvm.smin.i64(i64, i64)
declare i64 @llvm.smax.i64(i64, i64)
declare i128 @llvm.cttz.i128(i128, i1)
declare i128 @llvm.ctpop.i128(i128)
declare i256 @llvm.cttz.i256(i256, i1)
declare i256 @llvm.ctpop.i256(i256)

define internal i1 @same(ptr %a, ptr %b, i64 %n) {
entry:
  %bytes = mul i64 %n, 8
  %order = call i32 @memcmp(ptr %a, ptr %b, i64 %bytes)
  %same = icmp eq i32 %order, 0
  ret i1 %same
}

define internal void @fail(ptr %ctx, i64 %slot, i64 %site) noinline cold {
entry:
  %p = getelementptr i64, ptr %ctx, i64 %slot
  %old = load i64, ptr %p, align 8
  %free = icmp eq i64 %old, 0
  br i1 %free, label %set, label %done
set:
  store i64 %site, ptr %p, align 8
  br label %done
done:
  ret void
}

define internal i64 @once(ptr %rows, i64 %count, i64 %size) noinline {
entry:
  %few = icmp slt i64 %count, 2
  br i1 %few, label %out, label %head
out:
  ret i64 %count
head:
  %i = phi i64 [0, %entry], [%i2, %after]
  %kept = phi i64 [0, %entry], [%kept2, %after]
  %more = icmp slt i64 %i, %count
  br i1 %more, label %body, label %end
body:
  %oi = mul i64 %i, %size
  %pi = getelementptr i64, ptr %rows, i64 %oi
  br label %scan
scan:
  %j = phi i64 [0, %body], [%j2, %differs]
  %left = icmp slt i64 %j, %kept
  br i1 %left, label %try, label %keep
try:
  %oj = mul i64 %j, %size
  %pj = getelementptr i64, ptr %rows, i64 %oj
  %eq = call i1 @same(ptr %pi, ptr %pj, i64 %size)
  br i1 %eq, label %drop, label %differs
differs:
  %j2 = add i64 %j, 1
  br label %scan
keep:
  %ok = mul i64 %kept, %size
  %pk = getelementptr i64, ptr %rows, i64 %ok
  %bytes = mul i64 %size, 8
  %moved = icmp eq ptr %pk, %pi
  br i1 %moved, label %kept_it, label %move
move:
  call void @llvm.memcpy.p0.p0.i64(ptr align 8 %pk, ptr align 8 %pi, i64 %bytes, i1 false)
  br label %kept_it
kept_it:
  %k1 = add i64 %kept, 1
  br label %after
drop:
  br label %after
after:
  %kept2 = phi i64 [%k1, %kept_it], [%kept, %drop]
  %i2 = add i64 %i, 1
  br label %head
end:
  ret i64 %kept
}
"""
