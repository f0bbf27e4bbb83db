"""Each rule bites: a tiny made-up tree that breaks it is reported, and the mended one is not."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

import rules_cpp
import rules_docs
import rules_promises
import rules_python
import rules_size
from tree import Tree, blank

LAYERS = json.loads((Path(__file__).parents[2] / "layers.json").read_text()) | {
    "vendor_allowed": {},
    "dtype_names_allowed": {},
    "backend_tables": {"backend/backends.def": "the table"},
}
DTYPES = "".join(f"EPI_DTYPE({name}, 1)\n" for name in ("Bool", "Int8", "Int16", "Float32"))
KINDS = 'EPI_UNARY(exp, "f")\nEPI_BINARY(add, "f")\nEPI_COMBINE(add)\n'
DELETED = "(deleted)"
Rule = Callable[[Tree], list[str]]

# rule, the files that break it, the files that mend it
CASES: list[tuple[Rule, dict[str, str], dict[str, str]]] = [
    (
        rules_cpp.includes_point_down,
        {"src/epi/base/a.h": '#include "epi/runtime/queue.h"\n', "src/epi/runtime/queue.h": ""},
        {"src/epi/base/a.h": '// #include "epi/runtime/queue.h"\n'},
    ),
    (
        rules_cpp.includes_point_down,
        {"src/epi/compiler/a.cpp": '#include "epi/device/driver.h"\n', "src/epi/device/driver.h": ""},
        {"src/epi/compiler/a.cpp": '#include "epi/device/kernel_abi.h"\n', "src/epi/device/kernel_abi.h": ""},
    ),
    (
        rules_cpp.includes_point_down,
        {"src/epi/backend/cpu/driver/a.cpp": '#include "epi/backend/cuda/driver/b.h"\n'},
        {"src/epi/backend/cpu/driver/a.cpp": '#include "epi/backend/cpu/driver/b.h"\n'},
    ),
    (
        rules_cpp.includes_point_down,
        {"src/epi/jit/a.cpp": '#include "epi/backend/cpu/driver/b.h"\n'},
        {"src/epi/jit/a.cpp": '#include "epi/runtime/b.h"\n'},
    ),
    (rules_cpp.includes_point_down, {"src/epi/attic/a.h": ""}, {"src/epi/attic/a.h": DELETED}),
    (
        rules_cpp.no_mutual_includes,
        {
            "src/epi/jit/a.h": '#include "epi/math/b.h"\n',
            "src/epi/math/b.h": '#include "epi/jit/c.h"\n',
        },
        {"src/epi/jit/a.h": ""},
    ),
    (
        rules_cpp.mlir_stays_in_its_rooms,
        {
            "src/epi/jit/a.cpp": '#include "epi/compiler/open.h"\n',
            "src/epi/compiler/open.h": '#include "epi/ir/dialect.h"\n',
            "src/epi/ir/dialect.h": "#include <mlir/IR/Builders.h>\n",
        },
        {"src/epi/compiler/open.h": '#include "epi/ir/kinds.h"\n'},
    ),
    (
        rules_cpp.mlir_stays_in_its_rooms,
        {"src/epi/ir/builder.h": '#include "epi/ir/ops.h.inc"\n'},
        {"src/epi/ir/builder.h": "#include <vector>\n"},
    ),
    (
        rules_cpp.python_stays_in_the_binding,
        {"src/epi/jit/a.cpp": "#include <nanobind/nanobind.h>\n"},
        {"src/epi/jit/a.cpp": "", "python/bind/a.cpp": "#include <Python.h>\n"},
    ),
    (
        rules_cpp.apart,
        {"src/epi/ir/interp.cpp": '#include "epi/ir/x.h"\n', "src/epi/ir/x.h": '#include "epi/compiler/lower.h"\n'},
        {"src/epi/ir/x.h": '#include "epi/ir/dialect.h"\n'},
    ),
    (
        rules_cpp.apart,
        {"src/epi/backend/cpu/target/a.cpp": '#include "epi/ir/interp.h"\n'},
        {"src/epi/backend/cpu/target/a.cpp": '#include "epi/ir/dialect.h"\n'},
    ),
    (
        rules_cpp.vendor_words_stay_in_their_wing,
        {"src/epi/runtime/queue.cpp": "void open_cuda_driver();\n"},
        {"src/epi/runtime/queue.cpp": "", "src/epi/backend/cuda/driver/a.cpp": "void open_cuda();\n"},
    ),
    (
        rules_cpp.vendor_words_stay_in_their_wing,
        {"src/epi/jit/a.h": "bool isCudaDevice();\n"},
        {"src/epi/jit/a.h": "relationship hipster_(scuda);\n"},
    ),
    (
        rules_cpp.vendor_words_stay_in_their_wing,
        {"src/epi/jit/a.h": "// on sm_90a only\n"},
        {"src/epi/jit/a.h": "// on some only\n"},
    ),
    (
        rules_cpp.dtypes_are_switched_in_few_places,
        {"src/epi/jit/a.cpp": "switch (d) {\n  case epi::DType::kInt8: return 1;\n}\n"},
        {"src/epi/jit/a.cpp": "#define EPI_DTYPE(n, s) case DType::k##n: return s;\n"},
    ),
    (
        rules_cpp.no_if_on_a_backend,
        {"src/epi/jit/a.cpp": "#ifdef EPI_WITH_CUDA\n#endif\n"},
        {"src/epi/jit/a.cpp": "#ifdef NDEBUG\n#endif\n"},
    ),
    (rules_size.over_fail, {"src/epi/base/a.h": "int x;\n" * 1000}, {"src/epi/base/a.h": "int x;\n" * 999}),
    (
        rules_size.over_fail,
        {"src/epi/base/a.cpp": "namespace e {\nint f(int a) {\n" + "  a++;\n" * 98 + "}\n}\n"},
        {"src/epi/base/a.cpp": "namespace e {\nint f(int a) {\n" + "  a++;\n" * 97 + "}\n}\n"},
    ),
    (
        rules_size.over_fail,
        {"tools/a.py": "def f():\n" + "    pass\n" * 99},
        {"tools/a.py": "def f():\n" + "    pass\n" * 98},
    ),
    (
        rules_promises.dtypes_are_listed_once,
        {"src/epi/base/dtype.def": DTYPES, "src/epi/jit/a.cpp": "f(DType::kBool, DType::kInt8, DType::kInt16);\n"},
        {"src/epi/jit/a.cpp": "f(DType::kBool, DType::kInt8);\n"},
    ),
    (
        rules_promises.dtypes_are_listed_once,
        {"src/epi/base/dtype.def": DTYPES, "python/epitaxy/a.py": "X = ('bool', 'int8', 'int16')\n"},
        {"python/epitaxy/a.py": "X = ('bool', 'int8')\n"},
    ),
    (
        rules_promises.an_op_touches_three_files,
        {"src/epi/ir/kinds.def": KINDS} | {f"src/epi/ir/{c}.cpp": "return Unary::k_exp;\n" for c in "abc"},
        {"src/epi/ir/c.cpp": "return Binary::k_add;\n"},
    ),
    (
        rules_promises.a_backend_is_one_folder,
        {"src/epi/backend/cpu/driver/a.cpp": "", "src/epi/jit/a.cpp": "Driver* make_cpu_driver();\n"},
        {"src/epi/jit/a.cpp": "", "src/epi/backend/backends.def": "EPI_BACKEND(cpu_driver)\n"},
    ),
    (
        rules_python.python_folders_point_one_way,
        {
            "python/epitaxy/tile/a.py": "from ..numpy import b\nfrom .c import d\n",
            "python/epitaxy/numpy/b.py": "from epitaxy.tile.a import x\n",
        },
        {"python/epitaxy/numpy/b.py": "import numpy\nfrom .. import _engine\n\ndef f():\n    import epitaxy.tile\n"},
    ),
    (
        rules_docs.named_paths_exist,
        {"docs/a.md": "see `src/epi/base/nothing.h`\n", "src/epi/base/a.h": ""},
        {"docs/a.md": "see `src/epi/base/a.h`, `base/a.h` and `exp/log`\n"},
    ),
    (
        rules_docs.named_paths_exist,
        {"docs/a.md": "see [there](b.md)\n"},
        {"docs/b.md": ""},
    ),
]


def _write(root: Path, files: dict[str, str]) -> Tree:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if text == DELETED:
            path.unlink()
        else:
            path.write_text(text)
    return Tree(root)


@pytest.mark.parametrize(
    ("rule", "broken", "mended"), CASES, ids=[f"{r.__name__}-{i}" for i, (r, _, _) in enumerate(CASES)]
)
def test_rule_reports_the_broken_tree_alone(
    rule: Rule, broken: dict[str, str], mended: dict[str, str], tmp_path: Path
) -> None:
    (tmp_path / "layers.json").write_text(json.dumps(LAYERS))
    assert rule(_write(tmp_path, broken))
    assert rule(_write(tmp_path, mended)) == []


def test_every_rule_of_the_tree_has_a_case() -> None:
    import test_tree

    assert {r.__name__ for r in test_tree.RULES} == {r.__name__ for r, _, _ in CASES}


def test_a_vendor_exception_that_nothing_needs_is_reported(tmp_path: Path) -> None:
    (tmp_path / "layers.json").write_text(json.dumps(LAYERS | {"vendor_allowed": {"src/epi/base/a.h": "reason"}}))
    assert rules_cpp.vendor_words_stay_in_their_wing(_write(tmp_path, {"src/epi/base/a.h": "int x;\n"}))


def test_blank_keeps_lines_and_drops_comments_and_strings() -> None:
    text = 'int a; // {\nauto s = R"x(\n}{)x"; /* {\n */ char c = \'{\'; int n = 1\'000; f("{");\n'
    bare = blank(text)
    assert bare.count("\n") == text.count("\n")
    assert "{" not in bare
    assert "}" not in bare
    assert "1'000" in bare


def test_functions_are_measured_by_braces() -> None:
    text = (
        "namespace e {\nstruct A {\n  A() : a_{1}, b_(2) {\n    x();\n  }\n  int a_{0};\n};\n"
        "auto f(int n) -> int {\n  auto g = [&] {\n    return n;\n  };\n"
        "  if (n) {\n    return 1;\n  }\n  return g();\n}\n}\n"
    )
    assert {f.name: f.lines for f in rules_size.cpp_functions(text) if f.name == "f"} == {"f": 9}
