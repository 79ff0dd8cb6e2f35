"""Builds LLVM IR: instructions with constant folding, calls, and control flow. Only this module
writes instructions as text; `functions.py` has the functions that are called.

An operand is a number (a Python int, or a register), a truth or a pointer; the type checker lets
none stand for another. Numbers are i64, except where a method is told another width (of sets).
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Generic, Literal, NewType, TypeVar, TypeVarTuple, cast


class Ref(str):
    """A number in a register."""

    __slots__ = ()


class Truth(str):
    """An i1: TRUE, FALSE or a register. Nothing else can be branched on."""

    __slots__ = ()


class Pointer(str):
    """The address of numbers: a register, or the name of a constant array."""

    __slots__ = ()


Number = int | Ref
Operand = Number | Truth | Pointer
Label = NewType("Label", str)
"""The name of a block."""

TRUE, FALSE = Truth("true"), Truth("false")

I64: Number = Ref("i64")
I32: Number = Ref("i32")
I1: Truth = Truth("i1")
PTR: Pointer = Pointer("ptr")
READ: Pointer = Pointer("ptr noalias readonly")
OWN: Pointer = Pointer("ptr noalias")
"""Types of parameters and results: each is, to the type checker, an operand of its type."""

Operation = Literal["add", "sub", "mul", "and", "or", "xor", "shl", "lshr"]
Comparison = Literal["eq", "ne", "lt", "le", "gt", "ge", "ult", "ule", "ugt"]

FOLDED: Mapping[Operation, Callable[[int, int], int]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "and": operator.and_,
    "or": operator.or_,
    "xor": operator.xor,
    "shl": operator.lshift,
    "lshr": operator.rshift,
}
COMPARED: Mapping[Comparison, tuple[str, Callable[[int, int], bool]]] = {
    "eq": ("eq", operator.eq),
    "ne": ("ne", operator.ne),
    "lt": ("slt", operator.lt),
    "le": ("sle", operator.le),
    "gt": ("sgt", operator.gt),
    "ge": ("sge", operator.ge),
    "ult": ("ult", lambda a, b: a % (1 << 64) < b % (1 << 64)),
    "ule": ("ule", lambda a, b: a % (1 << 64) <= b % (1 << 64)),
    "ugt": ("ugt", lambda a, b: a % (1 << 64) > b % (1 << 64)),
}
"""The instruction, and what it says of constants. Without a `u`, numbers are signed."""

R = TypeVar("R")
T = TypeVar("T", Ref, Truth, Pointer)
Ts = TypeVarTuple("Ts")


@dataclass(frozen=True, slots=True)
class Callee(Generic[R, *Ts]):
    """A compiled function: the types of its parameters and of its result (None: it has none)."""

    name: str
    params: tuple[*Ts]
    result: R
    attributes: str = "nounwind"
    exported: bool = False


def operand(ty: str, text: str) -> Operand:
    """A register, of a type that only the charter knows."""
    if ty == "ptr":
        return Pointer(text)
    return Truth(text) if ty == "i1" else Ref(text)


def array(name: Pointer, numbers: Sequence[int], *, writable: bool = False) -> str:
    """An array that all functions share."""
    items = ", ".join(f"i64 {number}" for number in numbers or (0,))
    kind, rest = ("global", "") if writable else ("constant", ", align 16")
    return f"{name} = internal {kind} [{max(1, len(numbers))} x i64] [{items}]{rest}"


def _join_operands(types: Iterable[object], operands: Iterable[object]) -> str:
    return ", ".join(f"{ty} {text}" for ty, text in zip(types, operands, strict=True))


@dataclass(slots=True)
class Code:
    """A function under construction. `head` is its signature, `result` the type of its result."""

    head: str
    result: str
    attributes: str
    _lines: list[str] = field(default_factory=list)
    _allocas: list[str] = field(default_factory=list)
    fresh: int = 0
    block: Label = Label("begin")

    @staticmethod
    def of(function: Callee[R, *Ts], *names: *Ts) -> Code:
        """An empty function, given the names of its parameters."""
        result = str(function.result or "void")
        linkage = "" if function.exported else "internal "
        head = f"{linkage}{result} @{function.name}({_join_operands(function.params, names)})"
        return Code(head, result, function.attributes)

    def text(self) -> str:
        """The whole function; its last block must have ended."""
        body = "\n".join([*self._allocas, "br label %begin", "begin:", *self._lines])
        return f"define {self.head} {self.attributes} {{\nentry:\n{body}\n}}\n"

    # --- instructions ----------------------------------------------------------------------------

    def _let(self, kind: type[T], text: str) -> T:
        """The result of an instruction."""
        self.fresh += 1
        name = f"%t{self.fresh}"
        self._lines.append(f"{name} = {text}")
        return kind(name)

    @contextmanager
    def discarding(self) -> Iterator[None]:
        """Drops the instructions that are written inside."""
        kept, allocas, block = len(self._lines), len(self._allocas), self.block
        yield
        del self._lines[kept:], self._allocas[allocas:]
        self.block = block

    def binary(self, op: Operation, a: Number, b: Number, ty: str = "i64") -> Number:
        """An operation on two numbers."""
        if isinstance(a, int):
            if isinstance(b, int):
                return FOLDED[op](a, b)
            if a == 0 and op in ("add", "or", "xor"):
                return b
            if a == 0 and op in ("and", "mul"):
                return 0
        elif b == 0:
            return 0 if op in ("and", "mul") else a
        return self._let(Ref, f"{op} {ty} {a}, {b}")

    def add(self, a: Number, b: Number) -> Number:
        """The sum."""
        return self.binary("add", a, b)

    def sub(self, a: Number, b: Number) -> Number:
        """The difference."""
        return self.binary("sub", a, b)

    def mul(self, a: Number, b: Number) -> Number:
        """The product."""
        return self.binary("mul", a, b)

    def bit(self, mask: Number, at: Number, ty: str = "i64") -> Number:
        """One bit of a mask."""
        return self.binary("and", self.binary("lshr", mask, at, ty), 1, ty)

    def compare(self, how: Comparison, a: Number, b: Number, ty: str = "i64") -> Truth:
        """A comparison of two numbers."""
        word, folded = COMPARED[how]
        if isinstance(a, int) and isinstance(b, int):
            return TRUE if folded(a, b) else FALSE
        if a == b and how in ("eq", "le", "ge", "ule"):
            return TRUE
        return self._let(Truth, f"icmp {word} {ty} {a}, {b}")

    def nonzero(self, a: Number, ty: str = "i64") -> Truth:
        """Whether a number is not zero, or a set not empty."""
        return self.compare("ne", a, 0, ty)

    def not_null(self, a: Pointer) -> Truth:
        """Whether a pointer is not null."""
        return self._let(Truth, f"icmp ne ptr {a}, null")

    def both(self, a: Truth, b: Truth) -> Truth:
        """`a and b`; both are evaluated."""
        if FALSE in (a, b):
            return FALSE
        if TRUE in (a, b):
            return b if a == TRUE else a
        return self._let(Truth, f"and i1 {a}, {b}")

    def either(self, a: Truth, b: Truth) -> Truth:
        """`a or b`; both are evaluated."""
        if TRUE in (a, b):
            return TRUE
        if FALSE in (a, b):
            return b if a == FALSE else a
        return self._let(Truth, f"or i1 {a}, {b}")

    def differ(self, a: Truth, b: Truth) -> Truth:
        """Whether two truths are different."""
        if b in (TRUE, FALSE):
            a, b = b, a
        if a in (TRUE, FALSE):
            return self.negation(b) if a == TRUE else b
        return self._let(Truth, f"xor i1 {a}, {b}")

    def negation(self, a: Truth) -> Truth:
        """`not a`."""
        if a in (TRUE, FALSE):
            return FALSE if a == TRUE else TRUE
        return self._let(Truth, f"xor i1 {a}, true")

    def select(self, test: Truth, yes: Number, no: Number, ty: str = "i64") -> Number:
        """One of two numbers."""
        if test in (TRUE, FALSE):
            return yes if test == TRUE else no
        return yes if yes == no else self._let(Ref, f"select i1 {test}, {ty} {yes}, {ty} {no}")

    def widen(self, a: Truth) -> Number:
        """A truth as a number."""
        if a in (TRUE, FALSE):
            return int(a == TRUE)
        return self._let(Ref, f"zext i1 {a} to i64")

    def cast(self, a: Number, old: str, new: str) -> Number:
        """A number of another width, unsigned."""
        if old == new or isinstance(a, int):
            return a
        word = "zext" if int(old[1:]) < int(new[1:]) else "trunc"
        return self._let(Ref, f"{word} {old} {a} to {new}")

    # --- memory ----------------------------------------------------------------------------------

    def memory(self, slots: int) -> Pointer:
        """Stack memory for so many numbers, allocated once per call of the function."""
        return self._allocate(f"[{max(1, slots)} x i64]")

    def _allocate(self, ty: str) -> Pointer:
        self.fresh += 1
        self._allocas.append(f"%m{self.fresh} = alloca {ty}, align 16")
        return Pointer(f"%m{self.fresh}")

    def at(self, pointer: Pointer, offset: Number) -> Pointer:
        """The address `offset` numbers after another."""
        if offset == 0:
            return pointer
        return self._let(Pointer, f"getelementptr i64, ptr {pointer}, i64 {offset}")

    def row(self, pointer: Pointer, number: Number, size: Number) -> Pointer:
        """The address of a row in an array of rows, each of `size` numbers."""
        return self.at(pointer, self.mul(number, size))

    def load(self, pointer: Pointer, offset: Number = 0, ty: str = "i64") -> Ref:
        """The number at an address (LLVM `load`)."""
        return self._let(Ref, f"load {ty}, ptr {self.at(pointer, offset)}, align 8")

    def load_pointer(self, pointer: Pointer, offset: Number = 0) -> Pointer:
        """The address that stands at an address."""
        return self._let(Pointer, f"load ptr, ptr {self.at(pointer, offset)}, align 8")

    def store(
        self, value: Number | Pointer, pointer: Pointer, offset: Number = 0, ty: str = "i64"
    ) -> None:
        """Write a number or an address to memory."""
        if isinstance(value, Pointer):
            ty = "ptr"
        self._lines.append(f"store {ty} {value}, ptr {self.at(pointer, offset)}, align 8")

    def copy(self, target: Pointer, source: Pointer, slots: int) -> None:
        """Copy numbers between areas that do not overlap."""
        if slots == 1:
            self.store(self.load(source), target)
        elif slots:
            self._lines.append(
                f"call void @llvm.memcpy.p0.p0.i64(ptr align 8 {target}, ptr align 8 {source}, "
                f"i64 {slots * 8}, i1 false)"
            )

    def clear(self, target: Pointer, slots: int) -> None:
        """Zeros."""
        self._lines.append(
            f"call void @llvm.memset.p0.i64(ptr align 8 {target}, i8 0, i64 {slots * 8}, i1 false)"
        )

    def bump(self, pointer: Pointer, offset: Number = 0, by: Number = 1) -> Ref:
        """Add to a number in memory; returns its old value."""
        place = self.at(pointer, offset)
        old = self.load(place)
        self.store(self.add(old, by), place)
        return old

    # --- calls -----------------------------------------------------------------------------------

    def call(self, function: Callee[R, *Ts], *args: *Ts) -> R:
        """The result of a function."""
        types = (str(ty).partition(" ")[0] for ty in function.params)
        text = f"call {function.result or 'void'} @{function.name}({_join_operands(types, args)})"
        if function.result is None:
            self._lines.append(text)
            return function.result
        return cast(R, self._let(type(cast(Ref, function.result)), text))

    def merge(self, ty: str, *ways: tuple[Operand, Label]) -> Operand:
        """A phi node: the value from the block that jumped here."""
        if len({value for value, _ in ways}) == 1:
            return ways[0][0]
        ends = ", ".join(f"[{value}, %{block}]" for value, block in ways)
        return operand(ty, self._let(Ref, f"phi {ty} {ends}"))

    def give(self, result: Operand | None = None) -> None:
        """End the function with its result, if it has one."""
        self._lines.append("ret void" if result is None else f"ret {self.result} {result}")

    # --- control ---------------------------------------------------------------------------------

    def label(self) -> Label:
        """A new name for a block."""
        self.fresh += 1
        return Label(f"b{self.fresh}")

    def start(self, label: Label) -> None:
        """Begin a block."""
        self._lines.append(f"{label}:")
        self.block = label

    def jump(self, label: Label) -> None:
        """End the block with a jump."""
        self._lines.append(f"br label %{label}")

    def fork(self, test: Truth, yes: Label, no: Label) -> None:
        """End the block with a conditional jump."""
        self._lines.append(f"br i1 {test}, label %{yes}, label %{no}")

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
    def counting(self, count: Number, first: Number = 0) -> Iterator[Ref]:
        """A loop over the numbers from `first` up to, not including, `count`."""
        place = self.memory(1)
        self.store(first, place)
        head, body, after = self.label(), self.label(), self.label()
        self.jump(head)
        self.start(head)
        number = self.load(place)
        self.fork(self.compare("lt", number, count), body, after)
        self.start(body)
        yield number
        self.store(self.add(number, 1), place)
        self.jump(head)
        self.start(after)

    @contextmanager
    def choosing(self, mask: Number, ty: str = "i64") -> Iterator[Number]:
        """A loop over the bits of a mask, lowest first; once, with a number past the last bit, if
        there are none."""
        place = self._allocate(ty)
        self.store(mask, place, 0, ty)
        body, after = self.label(), self.label()
        self.jump(body)
        self.start(body)
        left = self.load(place, 0, ty)
        number = self.lowest(left, ty)
        yield number
        left = self.load(place, 0, ty)
        rest = self.binary("and", left, self.binary("sub", left, 1, ty), ty)
        self.store(rest, place, 0, ty)
        self.fork(self.nonzero(rest, ty), body, after)
        self.start(after)

    def lowest(self, mask: Number, ty: str = "i64") -> Number:
        """The number of the lowest bit of a mask, its width if there is none."""
        bit = self._let(Ref, f"call {ty} @llvm.cttz.{ty}({ty} {mask}, i1 false)")
        return self.cast(bit, ty, "i64")

    def highest(self, mask: Number) -> Number:
        """The number of the highest bit of a mask, -1 if there is none."""
        zeros = self._let(Ref, f"call i64 @llvm.ctlz.i64(i64 {mask}, i1 false)")
        return self.sub(63, zeros)

    def bits(self, mask: Number, ty: str = "i64") -> Number:
        """The number of set bits (population count)."""
        if isinstance(mask, int):
            return mask.bit_count()
        count = self._let(Ref, f"call {ty} @llvm.ctpop.{ty}({ty} {mask})")
        return self.cast(count, ty, "i64")
