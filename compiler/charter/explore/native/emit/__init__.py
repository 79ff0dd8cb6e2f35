"""Emits core as LLVM IR: expressions, guards, operations and steps."""
