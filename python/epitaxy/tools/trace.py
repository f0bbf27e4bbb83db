"""`epitaxy.trace()`: records a block, and gives its trail: each kernel and library call that ran, layer by layer."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from epitaxy import _engine
from epitaxy._trace import Recording

if TYPE_CHECKING:
    from epitaxy.tools._calls import Subject


class Trail:
    """What ran in a traced block. Filled when the block ends."""

    def __init__(self) -> None:
        self.recording = Recording()
        self.subjects: list[Subject] = []

    @property
    def kernels(self) -> list[Any]:
        """The kernels that ran, in order of their first launch."""
        return [s.kernel for s in self.subjects if s.kernel is not None]

    def text(self, *, full: bool = False, only: str | None = None, lines: int = 14) -> str:
        """The trail to read. Texts of more than `lines` lines are shortened unless `full`; `only` names what to show.

        ValueError where nothing that ran has `only` in its name; it says what ran.
        """
        from epitaxy.tools import _text  # `import epitaxy` does not pay for it

        chosen = [s for s in self.subjects if only is None or only in s.name]
        if only is not None and not chosen:
            ran = ", ".join(s.name for s in self.subjects) or "nothing"
            raise ValueError(f"only: no kernel or library call has {only!r} in its name; what ran: {ran}")
        return _text.render(chosen, limit=None if full else lines)

    def write_json(self, path: str | Path) -> None:
        """Writes a Chrome trace: open it at ui.perfetto.dev or chrome://tracing."""
        Path(path).write_text(self.recording.chrome_json(), encoding="utf-8")

    def __str__(self) -> str:
        return self.text()


@contextmanager
def trace() -> Iterator[Trail]:
    """Records what runs inside the block; the trail is complete when the block ends.

    Kernels that were compiled before are compiled again at their first launch inside, so that every stage is shown.

    >>> import epitaxy
    >>> import epitaxy.numpy as np
    >>> with epitaxy.trace() as trail:
    ...     total = float((np.arange(10.0) * 2).sum())
    >>> [k.name for k in trail.kernels]
    ['reduce_add']
    """
    trail = Trail()
    trail.recording.start()
    try:
        yield trail
    finally:
        from epitaxy.tools import _calls  # `import epitaxy` does not pay for it

        trail.recording.finish()
        trail.subjects = _calls.subjects(trail.recording.events(), {k.id: k for k in _engine.loaded_kernels()})
