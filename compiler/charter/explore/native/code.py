"""Builder of LLVM IR: instructions with constant folding, calls, and control flow. Only this module
writes instructions as text; `functions.py` has the types of what is called.

A reference is the text of an operand: `%t7`, a number, `true`. Everything is i64 but truths (i1),
wide sets (iN) and pointers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import NewType

Ref = str
Truth = NewType("Truth", str)
"""A reference to an i1. Nothing else can be branched on."""

TRUE, FALSE = Truth("true"), Truth("false")

FOLDED: dict[str, Callable[[int, int], int]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
    "xor": lambda a, b: a ^ b,
    "shl": lambda a, b: a << b,
    "lshr": lambda a, b: a >> b,
}
COMPARED: dict[str, Callable[[int, int], bool]] = {
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b,
    "slt": lambda a, b: a < b,
    "sle": lambda a, b: a <= b,
    "sgt": lambda a, b: a > b,
    "sge": lambda a, b: a >= b,
    "ult": lambda a, b: a % (1 << 64) < b % (1 << 64),
    "ule": lambda a, b: a % (1 << 64) <= b % (1 << 64),
    "ugt": lambda a, b: a % (1 << 64) > b % (1 << 64),
    "uge": lambda a, b: a % (1 << 64) >= b % (1 << 64),
}


def constant(ref: Ref) -> int | None:
    """The number that a reference is, if it is one."""
    if ref[0] in "%@":
        return None
    if ref in ("true", "false"):
        return int(ref == "true")
    return int(ref) if ref.lstrip("-").isdigit() else None


@dataclass(frozen=True, slots=True)
class Callee:
    """A compiled function that can be called: the types of what it takes, and of its result."""

    name: str
    params: tuple[str, ...]
    result: str = "void"


@dataclass(slots=True)
class Code:
    """A function under construction. `head` is its signature: `i64 @f(ptr %ctx)`."""

    head: str
    attributes: str = ""
    lines: list[str] = field(default_factory=list)
    allocas: list[str] = field(default_factory=list)
    fresh: int = 0
    block: str = "begin"

    def text(self) -> str:
        """The whole function; its last block must have ended."""
        body = "\n".join([*self.allocas, "br label %begin", "begin:", *self.lines])
        return f"define {self.head} {self.attributes} {{\nentry:\n{body}\n}}\n"

    # --- instructions ----------------------------------------------------------------------------

    def let(self, text: str) -> Ref:
        """The result of an instruction."""
        self.fresh += 1
        ref = f"%t{self.fresh}"
        self.lines.append(f"{ref} = {text}")
        return ref

    def do(self, text: str) -> None:
        """An instruction without a result."""
        self.lines.append(text)

    def binary(self, op: str, a: Ref, b: Ref, ty: str = "i64") -> Ref:
        """An operation on two numbers."""
        x, y = constant(a), constant(b)
        if x is not None and y is not None:
            return str(FOLDED[op](x, y))
        if y == 0 and op in ("add", "sub", "or", "xor", "shl", "lshr"):
            return a
        if x == 0 and op in ("add", "or", "xor"):
            return b
        if 0 in (x, y) and op in ("and", "mul"):
            return "0"
        return self.let(f"{op} {ty} {a}, {b}")

    def add(self, a: Ref, b: Ref) -> Ref:
        """The sum."""
        return self.binary("add", a, b)

    def compare(self, how: str, a: Ref, b: Ref, ty: str = "i64") -> Truth:
        """A comparison of two numbers."""
        x, y = constant(a), constant(b)
        if x is not None and y is not None:
            return TRUE if COMPARED[how](x, y) else FALSE
        if a == b and how in ("eq", "sle", "sge", "ule", "uge"):
            return TRUE
        return Truth(self.let(f"icmp {how} {ty} {a}, {b}"))

    def both(self, a: Truth, b: Truth) -> Truth:
        """`a and b`; both are evaluated."""
        if FALSE in (a, b):
            return FALSE
        if TRUE in (a, b):
            return b if a == TRUE else a
        return Truth(self.let(f"and i1 {a}, {b}"))

    def either(self, a: Truth, b: Truth) -> Truth:
        """`a or b`; both are evaluated."""
        if TRUE in (a, b):
            return TRUE
        if FALSE in (a, b):
            return b if a == FALSE else a
        return Truth(self.let(f"or i1 {a}, {b}"))

    def negation(self, a: Truth) -> Truth:
        """`not a`."""
        if a in (TRUE, FALSE):
            return FALSE if a == TRUE else TRUE
        return Truth(self.let(f"xor i1 {a}, true"))

    def select(self, test: Truth, yes: Ref, no: Ref, ty: str = "i64") -> Ref:
        """One of two numbers."""
        if test in (TRUE, FALSE):
            return yes if test == TRUE else no
        return yes if yes == no else self.let(f"select i1 {test}, {ty} {yes}, {ty} {no}")

    def widened(self, a: Truth, ty: str = "i64") -> Ref:
        """A truth as a number."""
        if a in (TRUE, FALSE):
            return "1" if a == TRUE else "0"
        return self.let(f"zext i1 {a} to {ty}")

    def cast(self, a: Ref, old: str, new: str) -> Ref:
        """A number of another width, unsigned."""
        if old == new or constant(a) is not None:
            return a
        word = "zext" if int(old[1:]) < int(new[1:]) else "trunc"
        return self.let(f"{word} {old} {a} to {new}")

    # --- memory ----------------------------------------------------------------------------------

    def memory(self, slots: int) -> Ref:
        """Stack memory for so many numbers, allocated once per call of the function."""
        self.fresh += 1
        self.allocas.append(f"%m{self.fresh} = alloca [{max(1, slots)} x i64], align 16")
        return f"%m{self.fresh}"

    def at(self, pointer: Ref, offset: Ref | int) -> Ref:
        """The address `offset` numbers after another."""
        if str(offset) == "0":
            return pointer
        return self.let(f"getelementptr i64, ptr {pointer}, i64 {offset}")

    def load(self, pointer: Ref, offset: Ref | int = 0, ty: str = "i64") -> Ref:
        """The value at an address (LLVM `load`)."""
        return self.let(f"load {ty}, ptr {self.at(pointer, offset)}, align 8")

    def store(self, value: Ref, pointer: Ref, offset: Ref | int = 0, ty: str = "i64") -> None:
        """Write to memory."""
        self.do(f"store {ty} {value}, ptr {self.at(pointer, offset)}, align 8")

    def copy(self, target: Ref, source: Ref, slots: int) -> None:
        """Copy numbers between areas that do not overlap."""
        if slots == 1:
            self.store(self.load(source), target)
        elif slots:
            self.do(
                f"call void @llvm.memcpy.p0.p0.i64(ptr align 8 {target}, ptr align 8 {source}, "
                f"i64 {slots * 8}, i1 false)"
            )

    def clear(self, target: Ref, slots: int) -> None:
        """Zeros."""
        self.do(
            f"call void @llvm.memset.p0.i64(ptr align 8 {target}, i8 0, i64 {slots * 8}, i1 false)"
        )

    def bump(self, pointer: Ref, offset: Ref | int = 0, by: Ref = "1") -> Ref:
        """Add to a number in memory; returns its old value."""
        place = self.at(pointer, offset)
        old = self.load(place)
        self.store(self.add(old, by), place)
        return old

    # --- calls -----------------------------------------------------------------------------------

    def call(self, function: Callee, *args: Ref | int) -> Ref:
        """The result of a function ("" for void)."""
        given = ", ".join(f"{ty} {arg}" for ty, arg in zip(function.params, args, strict=True))
        text = f"call {function.result} @{function.name}({given})"
        if function.result != "void":
            return self.let(text)
        self.do(text)
        return ""

    def ask(self, function: Callee, *args: Ref | int) -> Truth:
        """The result of a function that returns a truth."""
        assert function.result == "i1"
        return Truth(self.call(function, *args))

    def merged(self, ty: str, *ways: tuple[Ref, str]) -> Ref:
        """A phi node: the value from the block that jumped here."""
        return self.let(f"phi {ty} {', '.join(f'[{ref}, %{block}]' for ref, block in ways)}")

    def give(self, result: Ref | int = "") -> None:
        """End the function with its result ("" for void)."""
        ty = self.head.partition(" @")[0].rpartition(" ")[2]
        self.do(f"ret {ty} {result}".rstrip())

    # --- control ---------------------------------------------------------------------------------

    def label(self) -> str:
        """A new name for a block."""
        self.fresh += 1
        return f"b{self.fresh}"

    def start(self, label: str) -> None:
        """Begin a block."""
        self.lines.append(f"{label}:")
        self.block = label

    def jump(self, label: str) -> None:
        """End the block with a jump."""
        self.do(f"br label %{label}")

    def fork(self, test: Truth, yes: str, no: str) -> None:
        """End the block with a conditional jump."""
        self.do(f"br i1 {test}, label %{yes}, label %{no}")

    @contextmanager
    def when(self, test: Truth) -> Iterator[None]:
        """A block that runs only where `test` is true."""
        if test == TRUE:
            yield
            return
        yes, after = self.label(), self.label()
        self.fork(test, yes, after)
        self.start(yes)
        yield
        self.jump(after)
        self.start(after)

    @contextmanager
    def unless(self, test: Truth) -> Iterator[None]:
        """A block that runs only where `test` is false."""
        no, after = self.label(), self.label()
        self.fork(test, after, no)
        self.start(no)
        yield
        self.jump(after)
        self.start(after)

    @contextmanager
    def counting(self, count: Ref, first: Ref = "0") -> Iterator[Ref]:
        """A loop over the numbers from `first` up to, not including, `count`."""
        place = self.memory(1)
        self.store(first, place)
        head, body, after = self.label(), self.label(), self.label()
        self.jump(head)
        self.start(head)
        number = self.load(place)
        self.fork(self.compare("slt", number, count), body, after)
        self.start(body)
        yield number
        self.store(self.add(number, "1"), place)
        self.jump(head)
        self.start(after)

    @contextmanager
    def choosing(self, mask: Ref, ty: str = "i64") -> Iterator[Ref]:
        """A loop over the bits of a mask, lowest first; once, with a number past the last bit, if
        there are none."""
        self.fresh += 1
        place = f"%m{self.fresh}"
        self.allocas.append(f"{place} = alloca {ty}, align 16")
        self.store(mask, place, 0, ty)
        body, after = self.label(), self.label()
        self.jump(body)
        self.start(body)
        left = self.load(place, 0, ty)
        number = self.lowest(left, ty)
        yield number
        left = self.load(place, 0, ty)
        rest = self.let(f"and {ty} {left}, {self.let(f'sub {ty} {left}, 1')}")
        self.store(rest, place, 0, ty)
        self.fork(self.compare("ne", rest, "0", ty), body, after)
        self.start(after)

    def lowest(self, mask: Ref, ty: str = "i64") -> Ref:
        """The number of the lowest bit of a mask, its width if there is none."""
        bit = self.let(f"call {ty} @llvm.cttz.{ty}({ty} {mask}, i1 false)")
        return self.cast(bit, ty, "i64")

    def highest(self, mask: Ref) -> Ref:
        """The number of the highest bit of a mask, -1 if there is none."""
        zeros = self.let(f"call i64 @llvm.ctlz.i64(i64 {mask}, i1 false)")
        return self.binary("sub", "63", zeros)

    def bits(self, mask: Ref, ty: str = "i64") -> Ref:
        """The number of set bits (population count)."""
        known = constant(mask)
        if known is not None:
            return str(known.bit_count())
        count = self.let(f"call {ty} @llvm.ctpop.{ty}({ty} {mask})")
        return self.cast(count, ty, "i64")
