"""Compiles LLVM IR to callable machine code; the only module that imports llvmlite."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache

from llvmlite import binding as llvm

ObjectCode = bytes
Function = Callable[..., int]

SIGNATURES: dict[str, tuple[bool, int]] = {
    "expand": (True, 3),
    "outcomes": (False, 1),
    "check": (True, 3),
    "recall": (True, 3),
    "insert": (True, 6),
    "grow": (False, 4),
    "merge": (False, 3),
    "key": (False, 2),
    "anchor": (False, 1),
    "pack": (False, 2),
    "unpack": (False, 2),
}
"""What can be called: whether it has a result, and how many arguments; all are 64 bits wide."""
FOLLOWING = {"follow": (True, 3)}
"""What else can be called in a program that looks at runs."""
DETAILED = {"outcomes_of": (True, 2), "noted": (True, 3)}
"""What else can be called in a program whose operations are asked for one by one."""


@dataclass(frozen=True, slots=True)
class Processor:
    """The processor of this machine, as LLVM calls it, and what it can do."""

    name: str
    features: str


ANY = Processor("", "")
"""What every processor of this kind can do."""


@cache
def processor() -> Processor:
    """The processor, asked for once in a process: to ask takes a quarter of a millisecond."""
    return Processor(llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten())


def machine_digest() -> str:
    """A digest of the processor and compiler that object code depends on."""
    own, triple = processor(), llvm.get_process_triple()
    return f"{llvm.llvm_version_info} {triple} {own.name} {own.features}"


def compile_ir(text: str, *, optimized: bool = True) -> ObjectCode:
    """Object code of a module. The passes of level 2 take half as long again, for searches that are
    a hundredth or two faster. Code that is not optimized is there in a tenth of the time, and takes
    twice as long to run."""
    module = llvm.parse_assembly(text)
    target = _target(2 if optimized else 0, processor())
    options = llvm.create_pipeline_tuning_options(speed_level=1 if optimized else 0)
    options.loop_vectorization = False
    options.slp_vectorization = False
    options.loop_unrolling = False
    builder = llvm.create_pass_builder(target, options)
    builder.getModulePassManager().run(module, builder)
    return bytes(target.emit_object(module))


def _target(level: int, own: Processor) -> llvm.TargetMachine:
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    return llvm.Target.from_default_triple().create_target_machine(
        cpu=own.name,
        features=own.features,
        opt=level,
        reloc="pic",
        codemodel="jitdefault",
        jit=True,
    )


@dataclass(frozen=True, slots=True)
class Library:
    """Callable functions; `engine` owns their memory."""

    engine: llvm.ExecutionEngine
    functions: dict[str, Function]

    def __getitem__(self, name: str) -> Function:
        return self.functions[name]


def link(code: ObjectCode, signatures: Mapping[str, tuple[bool, int]] = SIGNATURES) -> Library:
    """The functions of object code."""
    # Nothing is compiled here: neither does it matter what the processor can do, nor is the module
    # needed without which no engine is made. Compiling it would take longer than linking.
    module = llvm.parse_assembly("")
    engine = llvm.create_mcjit_compiler(module, _target(0, ANY))
    engine.remove_module(module)
    engine.add_object_file(llvm.ObjectFileRef.from_data(code))
    engine.finalize_object()
    functions: dict[str, Function] = {}
    for name, (result, count) in signatures.items():
        kind = ctypes.CFUNCTYPE(ctypes.c_int64 if result else None, *[ctypes.c_void_p] * count)
        functions[name] = kind(engine.get_function_address(name))
    return Library(engine, functions)
