"""The machine code of the probes: what only a good lowering of the plain programs has. Compiled, not run."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "examples"))
from probes.plan import CODES, Program

from epitaxy import _engine
from probes import gemm, radix, scan

TOOL = Path(__file__).resolve().parents[2] / "build/tools/epi-compile"


def array(index: int, dtype: str, rank: int) -> Any:
    """An aligned row-major array that overlaps no other."""
    any_size, rows = _engine.DYNAMIC, rank - 1
    strides, divisors = [any_size] * rows + [1], [8] * rows + [1]
    return _engine.ArgSpec.array(CODES[dtype], [any_size] * rank, strides, divisors, 16, index, f"a{index}")


def compiled(tmp_path: Path, target: str, arch: str, program: Program, *arrays: tuple[str, int]) -> tuple[str, str]:
    """The program's assembly, and facts of its launch."""
    source = tmp_path / "program.mlir"
    source.write_text(program.build([array(i, *a) for i, a in enumerate(arrays)]).print())

    def stage(name: str) -> str:
        command = [str(TOOL), str(source), f"--target={target}", f"--arch={arch}", f"--stage={name}"]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout

    return stage("asm"), stage("info")


def count(pattern: str, text: str) -> int:
    """Lines that match."""
    return sum(bool(re.search(pattern, line)) for line in text.splitlines())


def test_product_on_hopper_is_wgmma_fed_by_tensor_maps(tmp_path: Path) -> None:
    program = Program("gemm", gemm.write_gemm, (gemm.GPU_TILE,))
    code, info = compiled(tmp_path, "cuda", "sm_90a", program, *[("bfloat16", 2)] * 3)
    assert count(r"wgmma\.mma_async\.sync\.aligned\.m64n256k16\.f32\.bf16\.bf16", code) >= 4
    assert count(r"cp\.async\.bulk\.tensor\.2d", code) >= 2
    assert count(r"mbarrier\.try_wait", code) >= 2
    assert info.count("tensor_map") == 2


@pytest.mark.parametrize(("arch", "register"), [("x86-64-v3", "ymm"), ("x86-64-v4", "zmm")])
def test_product_on_a_cpu_is_packed_fma(tmp_path: Path, arch: str, register: str) -> None:
    program = Program("gemm", gemm.write_gemm, (gemm.CPU_TILE,))
    code, _ = compiled(tmp_path, "cpu", arch, program, *[("bfloat16", 2)] * 3)
    assert count(rf"vfmadd\d+ps.*%{register}", code) >= 8
    assert count(r"vfmadd\d+ss", code) == 0


@pytest.mark.parametrize("dtype", ["int32", "float32"])
def test_scan_reads_and_writes_sixteen_bytes_and_keeps_its_tile_in_registers(tmp_path: Path, dtype: str) -> None:
    program = Program("scan", scan.write_scan, (scan.SUM, dtype, 8192, scan.SEGMENT), ascending=True)
    code, info = compiled(tmp_path, "cuda", "sm_90a", program, (dtype, 1), (dtype, 1), ("uint64", 1))
    threads = int(re.search(r"threads (\d+)", info).group(1))  # type: ignore[union-attr]
    assert count(r"ld\.global\.nc\.v4", code) == 8192 // (4 * threads)
    assert count(r"st\.global\.v4", code) == 8192 // (4 * threads)
    assert int(re.search(r"shared (\d+)", info).group(1)) < 4096  # type: ignore[union-attr]
    assert count(r"ld\.relaxed\.gpu", code) > 0


def test_radix_pass_fits_a_block(tmp_path: Path) -> None:
    program = Program("radix_pass", radix.write_pass, (0, 8192, 2), ascending=True)
    code, info = compiled(tmp_path, "cuda", "sm_90a", program, *[("uint32", 1)] * 4, ("int32", 2), ("uint64", 1))
    assert "ascending" in info
    assert count(r"match\.any\.sync", code) > 0
