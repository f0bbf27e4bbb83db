"""The README's program runs and prints what the README says."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

README = Path(__file__).resolve().parents[2] / "README.md"


def test_the_readme_program_prints_what_the_readme_says(tmp_path: Path) -> None:
    found = re.search(r"```python\n(.*?)```\n+```text\n(.*?)```", README.read_text(encoding="utf-8"), re.S)
    assert found is not None
    program, output = found.groups()
    (tmp_path / "program.py").write_text(program, encoding="utf-8")
    done = subprocess.run([sys.executable, "program.py"], cwd=tmp_path, check=False, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == output
    assert output.strip()
