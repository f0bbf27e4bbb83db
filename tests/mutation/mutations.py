"""Twenty faults, each one small edit of a lowering or a front end, that the suite must catch.

`old` occurs exactly once in `file` (test_mutations.py holds the list to that). `tests` is the part of the suite that
runs first: a gtest filter of tests/cpp/compiler, or pytest arguments. run.py applies one fault at a time to copies.
"""

from __future__ import annotations

from dataclasses import dataclass

COMPILER = "src/epi/compiler/"
CPU = "src/epi/backend/cpu/target/"
TILE = "tests/python/tile/"


@dataclass(frozen=True)
class Mutation:
    """One fault. `unit` is what is compiled where `file` is a header."""

    name: str
    file: str
    old: str
    new: str
    tests: str
    unit: str = ""

    @property
    def is_python(self) -> bool:
        """Whether a Python file is changed."""
        return self.file.endswith(".py")

    @property
    def by_pytest(self) -> bool:
        """Whether `tests` are pytest arguments."""
        return self.tests.startswith("tests/")


MUTATIONS = (
    Mutation(
        "floor division truncates",
        COMPILER + "elementwise.cpp",
        "if (kind == Binary::k_floordiv || kind == Binary::k_mod) {",
        "if (kind == Binary::k_mod) {",
        "*EachBinary*",
    ),
    Mutation(
        "less becomes less or equal",
        COMPILER + "elementwise.cpp",
        "P::ICMP_EQ, P::ICMP_NE, P::ICMP_SLT, P::ICMP_SLE,",
        "P::ICMP_EQ, P::ICMP_NE, P::ICMP_SLE, P::ICMP_SLE,",
        "*Compares*",
    ),
    Mutation(
        "a subtraction's operands are swapped",
        COMPILER + "elementwise.cpp",
        "narrow(b_.CreateFSub(a, b), dtype)",
        "narrow(b_.CreateFSub(b, a), dtype)",
        "*EachBinary*",
    ),
    Mutation(
        "a shift by the width is let through",
        COMPILER + "elementwise.cpp",
        "over = b_.CreateICmpUGE(b, constant_like(b, width));",
        "over = b_.CreateICmpUGT(b, constant_like(b, width));",
        "*Shifts*:*EachBinary*",
    ),
    Mutation(
        "minimum forgets a NaN on its right",
        "src/epi/ir/math/exact.h",
        "return select(is_nan(y), y, lesser(x, y));",
        "return lesser(x, y);",
        "*EachBinary*",
        unit=COMPILER + "math_policy.cpp",
    ),
    Mutation(
        "signed integers are widened with zeros",
        COMPILER + "casts.cpp",
        "return s ? b_.CreateSExtOrTrunc(v, type) : b_.CreateZExtOrTrunc(v, type);",
        "return b_.CreateZExtOrTrunc(v, type);",
        "*CastsToEveryOther*",
    ),
    Mutation(
        "float64 to float16 is rounded twice",
        COMPILER + "casts.cpp",
        "return narrow(from == DType::kFloat64 ? to_odd(w) : w, to);",
        "return narrow(from == DType::kFloat64 ? b_.CreateFPTrunc(w, type) : w, to);",
        "*Cast*",
    ),
    Mutation(
        "the identity of minimum is zero",
        COMPILER + "casts.cpp",
        "s.c = std::numeric_limits<double>::infinity();",
        "s.c = 0;",
        "*Reduce*",
    ),
    Mutation(
        "a load's padding is always zero",
        COMPILER + "pull.cpp",
        "return op.getPaddingAttr() ? constant(op.getPaddingAttr(), dtype, 1) : zero(dtype, 1);",
        "return zero(dtype, 1);",
        "Memory*",
    ),
    Mutation(
        "the test for a whole tile is off by one",
        COMPILER + "memory.cpp",
        "b_.getInt64(static_cast<std::uint64_t>(tile[axis])));",
        "b_.getInt64(static_cast<std::uint64_t>(tile[axis] - 1)));",
        "Memory*:Elementwise*",
    ),
    Mutation(
        "a store at an edge drops its mask",
        COMPILER + "memory.cpp",
        "tag(b_.CreateMaskedStore(stored_form(b_, dtype, value), pointer, align, lane_mask(access, coords)), scope);",
        "store_memory(dtype, value, pointer, align, scope);",
        "Memory*:Elementwise*",
    ),
    Mutation(
        "lanes are counted backwards",
        COMPILER + "position.cpp",
        "c.push_back(b.getInt32(l));",
        "c.push_back(b.getInt32(lanes - 1 - l));",
        "Memory*:Shape*",
    ),
    Mutation(
        "a gather of two axes uses the first one's stride twice",
        COMPILER + "effects.cpp",
        "offset = b_.CreateAdd(offset, b_.CreateMul(i, view.strides[axis]));",
        "offset = b_.CreateAdd(offset, b_.CreateMul(i, view.strides[0]));",
        "Memory*",
    ),
    Mutation(
        "an atomic maximum of signed integers compares them as unsigned",
        COMPILER + "effects.cpp",
        "(is_signed ? R::Max : R::UMax)",
        "(is_signed ? R::UMax : R::UMax)",
        "*Atomic*",
    ),
    Mutation(
        "a load is not held back by an earlier store's order",
        COMPILER + "analysis.cpp",
        "} else if (order_[e.op] < order_[r.root]) {",
        "} else if (order_[e.op] > order_[r.root]) {",
        "Memory*:Fuzz*",
    ),
    Mutation(
        "a reverse scan runs forward",
        CPU + "scan.cpp",
        "return at(reverse ? e.b_.CreateSub(e.constant_index(n - 1), i) : i);",
        "return at(i);",
        "Scan*",
    ),
    Mutation(
        "a reduction folds its ragged end with lanes that are not there",
        CPU + "reduce.cpp",
        "acc[a] = select(lane_below(partial), combine(acc[a], x), acc[a]);",
        "acc[a] = combine(acc[a], x);",
        "Reduce*",
    ),
    Mutation(
        "a contraction leaves out its last rows",
        CPU + "mma.cpp",
        "  run(whole, m, 1);\n",
        "",
        "Mma*",
    ),
    Mutation(
        "a kernel for packed arrays is used again for strided ones",
        "src/epi/jit/specialize.cpp",
        "word |= (std::uint64_t{f.unit} | (std::uint64_t{f.divisible} << 1)) << (24 + 2 * axis);",
        "word |= (std::uint64_t{f.divisible} << 1) << (24 + 2 * axis);",
        TILE + "test_tile_arguments.py " + TILE + "test_tile_memory.py",
    ),
    Mutation(
        "argmax gives the last of equal elements",
        "python/epitaxy/tile/_collective.py",
        "earlier = ew.less(ri, li)",
        "earlier = ew.less(li, ri)",
        TILE + "test_tile_collective.py",
    ),
)
