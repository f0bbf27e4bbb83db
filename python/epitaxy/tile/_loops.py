"""The walker's loops: for over ranges (recorded), over tuples and static ranges (unrolled), and while.

A loop carries the names that it assigns and that are read in the next round or after it. Their types are found by
walking the body: a constant takes the type that the body gives it, and the body is walked again.
"""

# mypy: disable-error-code="no-any-return"
from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import Any

from . import _convert as cv
from . import _elementwise as ew
from . import _operations as ops
from ._calls import RangeValue, Unrolled
from ._debug import truth
from ._errors import TileSyntaxError, TileTypeError, TileValueError
from ._liveness import LoopNames
from ._record import COMPUTE, Region
from ._statements import Statements
from ._values import Array, Tile
from ._walk import BREAK, CONTINUE, RESULT, RETURN, Conflict, LoopState, Path, Undefined, settle, zero_jump

_MAX_UNROLLED = 10_000
_MAX_PASSES = 8


@dataclass
class Carried:
    """One number or tile that a loop carries: its value before, and its type so far."""

    name: str
    before: Any  # a number, a Tile, or None where the name has no value before the loop
    dtype: Any = None
    shape: tuple[int, ...] = ()
    weak: bool = False
    hidden: bool = False  # without a value before the loop: not readable in the first round

    def parameter(self) -> Tile:
        t = Tile(self.dtype, self.shape, weak=self.weak)
        return t


@dataclass
class Bounds:
    """A loop `for j in range(start, stop, step)` with step > 0, and how its index is made from j."""

    start: Tile
    stop: Tile
    step: Tile
    dtype: Any
    scale: Any = None  # index = origin + j * scale, where given
    origin: Any = None
    runs: bool = False  # at least once


class Loops(Statements):
    """for and while."""

    # -- for -------------------------------------------------------------------------------------------------------
    def do_For(self, s: ast.For, rest: list[ast.stmt]) -> None:
        if s.orelse:
            raise TileSyntaxError("`else` of a loop is not supported in a kernel", hint="set a flag before break")
        items = self.eval(s.iter)
        names = self.frame.source.analysis.loops[id(s)]
        if isinstance(items, range | RangeValue):
            bounds = self._bounds(items)
            if bounds is not None:
                self._recorded(s, names, bounds)
            return
        if isinstance(items, Tile | Array):
            raise self.locate(
                TileTypeError(
                    f"a loop cannot iterate over {cv.describe(items)}", hint="loop over range(n) and load tiles"
                ),
                s.iter,
            )
        values = items.items if isinstance(items, Unrolled) else self.sequence(items, "a loop")
        if len(values) > _MAX_UNROLLED:
            raise TileValueError(
                f"a loop over {len(values)} constants is too long to unroll", hint="loop over range(n)"
            )
        self._unrolled(s, names, values)

    def _bounds(self, r: range | RangeValue) -> Bounds | None:
        """The loop's bounds, or None where it never runs."""
        if isinstance(r, range):
            if len(r) == 0:
                return None
            dtype = cv.INT32 if all(-(2**31) <= v < 2**31 for v in (r[0], r[-1] + r.step, r.stop)) else cv.INT64
            numbers = (r.start, r.stop, r.step) if r.step > 0 else (0, len(r), 1)
            start, stop, step = (cv.constant(v, dtype) for v in numbers)
            out = Bounds(start, stop, step, dtype, runs=True)
            if r.step < 0:
                out.scale, out.origin = r.step, r.start
            return out
        dtype = cv.INT32
        for v in (r.start, r.stop, r.step):
            t = cv.scalar_index(v, "the bounds of range")
            dtype = cv.INT64 if t.dtype is cv.INT64 else dtype
        start, stop = (cv.cast(cv.scalar_index(v, "a bound"), dtype) for v in (r.start, r.stop))
        known = cv.static_int(r.step)
        if (known is not None and known > 0) or (isinstance(r.step, Tile) and r.step.positive):
            return Bounds(start, stop, cv.cast(cv.scalar_index(r.step, "the step"), dtype), dtype)
        return self._counted(start, stop, r.step, dtype, known)

    def _counted(self, start: Tile, stop: Tile, step: Any, dtype: Any, known: int | None) -> Bounds:
        """A range whose step is negative, or of a sign known at run time only: count the rounds (in 64 bits)."""
        lo, hi = cv.cast(start, cv.INT64), cv.cast(stop, cv.INT64)
        by = cv.cast(cv.scalar_index(step, "the step of range"), cv.INT64)
        if known == 0:
            raise TileValueError("the step of range must not be zero")
        if known is None:
            ops.assert_(ew.not_equal(by, 0), "the step of range must not be zero")  # noqa: PT009
            by = ew.where(ew.equal(by, 0), cv.constant(1, cv.INT64), by)
        rounds = ew.cdiv(ew.sub(hi, lo), by)
        zero, one = cv.constant(0, cv.INT64), cv.constant(1, cv.INT64)
        out = Bounds(zero, ew.maximum(rounds, zero), one, cv.INT64, scale=by, origin=lo)
        out.dtype = dtype
        return out

    def _index(self, bounds: Bounds, j: Tile) -> Any:
        if bounds.scale is None:
            return j
        wide = ew.add(bounds.origin, ew.mul(j, bounds.scale))
        return cv.cast(wide, bounds.dtype)

    def _recorded(self, s: ast.For, names: LoopNames, bounds: Bounds) -> None:
        index_type = bounds.start.dtype

        def body(loop: LoopState, params: list[Tile]) -> None:
            self.assign(s.target, self._index(bounds, params[0]))
            self.block(s.body)

        state, carried, region = self._settled(s, names, [index_type], body)
        kinds, jump = self._end_of_round(region)
        if kinds & {BREAK, RETURN}:
            self._as_while(s, bounds, carried, region, jump, state, kinds)
            return
        region.yields = self._yields(carried, region)
        results = [c.parameter() for c in carried]
        self.r.emit("for", (bounds.start, bounds.stop, bounds.step, self._initial(carried)), results, (region,))
        self._leave_loop(names, carried, results, state, bounds.runs)

    def _as_while(
        self,
        s: ast.For,
        bounds: Bounds,
        carried: list[Carried],
        region: Region,
        jump: Any,
        state: LoopState,
        kinds: set[int],
    ) -> None:
        """The recorded body of a for with exits as a while: (index, carried.., jump) until the stop or an exit."""
        index = region.params[0]
        yields = self._yields(carried, region)
        with self.r.into(region):
            following = Tile(index.dtype)
            self.r.emit("binary", (ew._BINARY["add"], index, bounds.step, False), [following])
            left = settle(jump, cv.INT32, ())
        region.yields = [following, *yields, left]
        region.params = [*region.params, Tile(cv.INT32)]
        seen = [Tile(index.dtype), *(c.parameter() for c in carried), Tile(cv.INT32)]
        with self.r.region(seen) as condition:
            inside = ew.less(seen[0], bounds.stop)
            condition.yields.append(ops.bitwise_and(inside, zero_jump(seen[-1])))
        initial = [bounds.start, *self._initial(carried), cv.constant(0, cv.INT32)]
        results = [Tile(index.dtype), *(c.parameter() for c in carried), Tile(cv.INT32)]
        self.r.emit("while", (initial,), results, (condition, region))
        names = self.frame.source.analysis.loops[id(s)]
        self._leave_loop(names, carried, results[1:-1], state, bounds.runs)
        self._after_exit(results[-1], kinds, endless=False)

    # -- while -----------------------------------------------------------------------------------------------------
    def do_While(self, s: ast.While, rest: list[ast.stmt]) -> None:
        if s.orelse:
            raise TileSyntaxError("`else` of a loop is not supported in a kernel", hint="set a flag before break")
        if any(isinstance(n, ast.NamedExpr) for n in ast.walk(s.test)):
            raise self.locate(TileSyntaxError("`:=` in the condition of a while is not supported in a kernel"), s.test)
        names = self.frame.source.analysis.loops[id(s)]
        conditions: list[Any] = []

        def body(loop: LoopState, params: list[Tile]) -> None:
            # The condition is recorded on its own copy of the carried names; the body starts from the same names.
            conditions[:] = [self._condition(s, loop)]
            if conditions[0][0] is not False:
                self.block(s.body)

        state, carried, region = self._settled(s, names, [], body)
        known, test_region, seen = conditions[0]
        if known is False:
            return
        seen += [c.parameter() for c in carried[len(seen) :]]
        test_region.params = seen
        kinds, jump = self._end_of_round(region)
        exits = bool(kinds & {BREAK, RETURN})
        if known is True and not exits:
            raise TileValueError("this loop never ends: its condition is always true and nothing leaves it")
        yields = self._yields(carried, region)
        if exits:
            with self.r.into(region):
                yields.append(settle(jump, cv.INT32, ()))
            region.params = [*region.params, Tile(cv.INT32)]
        region.yields = yields
        condition = self._while_condition(known, test_region, seen, exits)
        initial = [*self._initial(carried), *([cv.constant(0, cv.INT32)] if exits else [])]
        results = [c.parameter() for c in carried] + ([Tile(cv.INT32)] if exits else [])
        self.r.emit("while", (initial,), results, (condition, region))
        self._leave_loop(names, carried, results[: len(carried)], state, known is True)
        if exits:
            self._after_exit(results[-1], kinds, endless=known is True)

    def _condition(self, s: ast.While, loop: LoopState) -> tuple[Any, Region, list[Tile]]:
        """The condition on parameters of its own: (known value or the Tile, its region, the parameters)."""
        f = self.frame
        env = f.env
        twins: dict[int, Tile] = {}
        seen: list[Tile] = []

        def twin(v: Any) -> Any:
            if isinstance(v, tuple):
                return tuple(twin(e) for e in v)
            if id(v) in loop_parameters:
                t = Tile(v.dtype, v.shape, weak=v.weak)
                twins[id(v)] = t
                return t
            return v

        loop_parameters = {id(p) for p in self._parameters}
        f.env = {k: twin(v) for k, v in env.items()}
        seen = [twins[id(p)] if id(p) in twins else Tile(p.dtype, p.shape, weak=p.weak) for p in self._parameters]
        with self.r.region(seen) as region:
            value = truth(self.eval(s.test), "the condition of `while`")
        f.env = env
        return value, region, seen

    def _while_condition(self, value: Any, region: Region, seen: list[Tile], exits: bool) -> Region:
        if not exits:
            region.yields.append(value)
            return region
        left = Tile(cv.INT32)
        params = [*seen, left]
        if value is True:
            with self.r.region(params) as out:
                out.yields.append(zero_jump(left))
            return out
        if all(o.name in COMPUTE for o in region.ops):
            with self.r.into(region):
                region.yields.append(ops.bitwise_and(value, zero_jump(left)))
            region.params = params
            return region
        with self.r.region(params) as out:
            going = zero_jump(left)
            region.params, region.yields = [], [value]
            with self.r.region() as gone:
                gone.yields.append(cv.constant(False, cv.BOOL))
            result = Tile(cv.BOOL)
            self.r.emit("if", (going,), [result], (region, gone))
            out.yields.append(result)
        return out

    # -- carried names ---------------------------------------------------------------------------------------------
    def _settled(
        self, s: Any, names: LoopNames, index: list[Any], body: Any
    ) -> tuple[LoopState, list[Carried], Region]:
        """Walks the body until the types of the carried names are stable; the last walk is kept."""
        f = self.frame
        before = f.env
        alive = names.head | names.after | f.source.analysis.captured
        slots = {n: self._slot(n, before[n]) for n in sorted(names.assigned & alive) if n in before}
        fresh = sorted(n for n in names.assigned & alive if n not in before or isinstance(before[n], Undefined))
        slots = {n: v for n, v in slots.items() if n not in fresh}
        for _ in range(_MAX_PASSES):
            leaves = [c for v in slots.values() for c in _leaves(v)]
            params = [Tile(d) for d in index] + [c.parameter() for c in leaves]
            self._parameters = params[len(index) :]
            given = iter(self._parameters)
            f.env = dict(before)
            for n, v in slots.items():
                f.env[n] = _with_parameters(v, given)
            for n in fresh:
                f.env[n] = Undefined("the loop assigns it, but its first round reads it before")
            f.jump, f.kinds = 0, {0}
            state = LoopState(names)
            f.loops.append(state)
            uses = self.r.weak_uses
            with self.r.region(params) as region:
                body(state, params)
            f.loops.pop()
            end = f.env
            f.env = end
            changed = self._compare(slots, end, s, region)
            if not changed and not self._harden(leaves, self.r.weak_uses != uses):
                state.undefined |= {n for n in fresh if n not in end or isinstance(end[n], Undefined | Conflict)}
                hidden = self._fresh(fresh, end, region)
                self._end = end
                f.env = before
                return state, leaves + hidden, region
            f.env = before
            f.jump, f.kinds = 0, {0}
        raise TileTypeError(
            "the types of the loop's variables do not settle", hint="cast them to one type before the loop"
        )

    def _slot(self, name: str, value: Any) -> Any:
        if isinstance(value, tuple) and type(value) is tuple:
            return tuple(self._slot(name, v) for v in value)
        if isinstance(value, Tile):
            return Carried(name, value, value.dtype, value.shape, value.weak)
        if cv.is_number(value):
            return Carried(name, value, cv.number_dtype(value), (), True)
        return value

    def _compare(self, slots: dict[str, Any], end: dict[str, Any], s: Any, region: Region) -> bool:
        """Takes over better types; true where something changed. Values that do not fit are errors."""
        changed = False
        for n in slots:
            slots[n], more = self._fit(n, slots[n], end.get(n), s)
            changed = changed or more
        return changed

    def _fit(self, name: str, slot: Any, value: Any, s: Any) -> tuple[Any, bool]:
        if isinstance(value, Conflict):
            raise TileTypeError(f"'{name}' has no single type: {value.reason}", hint=value.hint)
        if isinstance(slot, tuple) and isinstance(value, tuple) and len(slot) == len(value):
            parts = [self._fit(name, a, b, s) for a, b in zip(slot, value, strict=True)]
            return tuple(p[0] for p in parts), any(p[1] for p in parts)
        if isinstance(slot, Carried) and (isinstance(value, Tile) or cv.is_number(value)):
            return slot, self._fit_leaf(slot, value)
        if value is slot or (
            not isinstance(slot, Carried | tuple | Array | Tile) and type(value) is type(slot) and value == slot
        ):
            return slot, False
        was = cv.describe(slot.before) if isinstance(slot, Carried) else cv.describe(_unslot(slot))
        raise TileTypeError(
            f"'{name}' is {was} before the loop and {cv.describe(value)} after a round; a loop carries numbers and "
            "tiles of one type",
            hint="unroll the loop (ct.static_range) where constants, tuples or arrays change in it",
        )

    def _fit_leaf(self, c: Carried, value: Any) -> bool:
        number = not isinstance(value, Tile)
        dtype = cv.number_dtype(value) if number else value.dtype
        shape = () if number else value.shape
        weak = True if number else value.weak
        if dtype is c.dtype and shape == c.shape:
            return False
        if c.weak:  # a constant before the loop takes the body's type
            wider = cv.common_dtype([Tile(c.dtype, weak=True), Tile(dtype, weak=weak)])[0]
            if wider is dtype or weak:
                c.dtype, c.shape, c.weak = wider, shape or c.shape, weak
                return True
        if weak and shape == () and cv.common_dtype([Tile(c.dtype), Tile(dtype, weak=True)])[0] is c.dtype:
            return False  # a constant in the body takes the carried type
        now = f"{dtype.name}{list(shape) if shape else ' scalar'}"
        was = f"{c.dtype.name}{list(c.shape) if c.shape else ' scalar'}"
        hint = (
            f"cast it in the loop: {c.name}.astype(ct.{c.dtype.name})"
            if shape == c.shape
            else "give it its shape before the loop"
        )
        raise TileTypeError(
            f"'{c.name}' is {was} before the loop and {now} after a round; a loop-carried variable keeps its type",
            hint=hint,
        )

    def _harden(self, leaves: list[Carried], used: bool) -> bool:
        """Constants that stayed loose become ordinary; true where the body must be walked again for it."""
        loose = [c for c in leaves if c.weak]
        for c in loose:
            c.weak = False
        return bool(loose) and used

    def _fresh(self, names: list[str], end: dict[str, Any], region: Region) -> list[Carried]:
        """Names without a value before the loop that have one after a round: carried out, not readable inside."""
        out: list[Carried] = []
        self._outgoing: dict[str, Any] = {}
        for n in names:
            value = end.get(n)
            if isinstance(value, Undefined | Conflict | Array) or n not in end:
                continue
            self._outgoing[n] = slot = self._slot(n, value)
            for c in _leaves(slot):
                c.before, c.hidden, c.weak = None, True, False
                out.append(c)
                region.params.append(c.parameter())
        return out

    def _initial(self, carried: list[Carried]) -> list[Tile]:
        return [settle(0 if c.hidden else c.before, c.dtype, c.shape) for c in carried]

    def _yields(self, carried: list[Carried], region: Region) -> list[Tile]:
        """The carried values at the end of a round, in their types."""
        with self.r.into(region):
            flat: dict[str, list[Any]] = {}
            for c in carried:
                flat.setdefault(c.name, _flat(self._end.get(c.name)))
            return [settle(flat[c.name].pop(0), c.dtype, c.shape) for c in carried]

    def _end_of_round(self, region: Region) -> tuple[set[int], Any]:
        """What a round ends with: kinds of jumps, and the jump with continue made 0. Resets the frame's jump."""
        f = self.frame
        kinds, jump = set(f.kinds), f.jump
        f.jump, f.kinds = 0, {0}
        if CONTINUE in kinds:
            kinds = (kinds - {CONTINUE}) | {0}
            if isinstance(jump, Tile) and kinds != {0}:
                with self.r.into(region):
                    jump = ew.where(ew.equal(jump, CONTINUE), cv.constant(0, cv.INT32), jump)
            else:
                jump = 0
        return kinds, jump

    def _leave_loop(
        self, names: LoopNames, carried: list[Carried], results: list[Tile], state: LoopState, runs: bool
    ) -> None:
        """Binds the carried names to the loop's results."""
        f = self.frame
        env = dict(f.env)
        given = iter(results)
        seen: set[str] = set()
        for c in carried:
            if c.name in seen:
                continue
            seen.add(c.name)
            shape = self._outgoing[c.name] if c.hidden else self._slot(c.name, f.env[c.name])
            env[c.name] = _with_parameters(shape, given)
        lost = [
            n for n in names.assigned & (names.after | names.head) if n not in seen and n not in f.env and n != RESULT
        ]
        for n in [*lost, *(c.name for c in carried if c.hidden)]:
            if n != RESULT and (n in state.undefined or not runs or n in lost):
                env[n] = Undefined(
                    "the loop that assigns it may not have done so" if runs else "the loop may run zero times"
                )
        for n, v in self._outgoing.items():
            if n not in seen and (n == RESULT or (runs and n not in state.undefined)):
                env[n] = _unslot(v)
        f.env = env

    def _after_exit(self, left: Tile, kinds: set[int], *, endless: bool) -> None:
        """After a loop with exits: break is over, return goes on."""
        f = self.frame
        if RETURN not in kinds:
            return
        if BREAK not in kinds and endless:
            f.jump, f.kinds = RETURN, {RETURN}
            return
        f.jump = ew.where(ew.equal(left, RETURN), left, cv.constant(0, cv.INT32)) if BREAK in kinds else left
        f.kinds = {0, RETURN}

    # -- unrolled --------------------------------------------------------------------------------------------------
    def _unrolled(self, s: ast.For, names: LoopNames, values: list[Any]) -> None:
        f = self.frame
        f.loops.append(LoopState(names))
        try:
            self._rounds(s, names, values)
        finally:
            f.loops.pop()
        if BREAK in f.kinds:
            if isinstance(f.jump, Tile) and RETURN in f.kinds:
                f.jump = ew.where(ew.equal(f.jump, BREAK), cv.constant(0, cv.INT32), f.jump)
                f.kinds = (f.kinds - {BREAK}) | {0}
            else:
                f.jump, f.kinds = 0, {0}

    def _rounds(self, s: ast.For, names: LoopNames, values: list[Any]) -> None:
        f = self.frame
        for k, value in enumerate(values):
            self.assign(s.target, value)
            self.block(s.body)
            self._continue_round()
            if not isinstance(f.jump, Tile):
                if f.jump:
                    return
                continue
            if k + 1 < len(values):
                self._guarded_rounds(s, names, values[k + 1 :])
            return

    def _continue_round(self) -> None:
        f = self.frame
        if CONTINUE not in f.kinds:
            return
        f.kinds = (f.kinds - {CONTINUE}) | {0}
        if isinstance(f.jump, Tile) and f.kinds != {0}:
            f.jump = ew.where(ew.equal(f.jump, CONTINUE), cv.constant(0, cv.INT32), f.jump)
        else:
            f.jump = 0

    def _guarded_rounds(self, s: ast.For, names: LoopNames, values: list[Any]) -> None:
        f = self.frame
        condition = zero_jump(f.jump)
        b = Path(f.env, f.jump, f.kinds - {0}, self._empty())
        before = (f.env, f.jump, f.kinds)
        f.env, f.jump, f.kinds = dict(f.env), 0, {0}
        with self.r.region() as region:
            self._rounds(s, names, values)
            a = self.path(region)
        f.env, f.jump, f.kinds = before
        self.merge(condition, a, b, names.head | names.after, f.source.place(s))


def _leaves(slot: Any) -> list[Carried]:
    if isinstance(slot, tuple):
        return [c for v in slot for c in _leaves(v)]
    return [slot] if isinstance(slot, Carried) else []


def _with_parameters(slot: Any, given: Any) -> Any:
    """The slot's value with parameters in place of what is carried."""
    if isinstance(slot, tuple):
        return tuple(_with_parameters(v, given) for v in slot)
    return next(given) if isinstance(slot, Carried) else slot


def _unslot(slot: Any) -> Any:
    if isinstance(slot, tuple):
        return tuple(_unslot(v) for v in slot)
    return slot.before if isinstance(slot, Carried) else slot


def _flat(value: Any) -> list[Any]:
    """Numbers and tiles of a value, in the order of `_leaves`."""
    if isinstance(value, tuple) and type(value) is tuple:
        return [x for v in value for x in _flat(v)]
    return [value] if isinstance(value, Tile) or cv.is_number(value) else []
