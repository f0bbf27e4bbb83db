"""Runs what write_cases wrote on a GPU: checks every case against the interpreter's results, times the rest.

    python3 run_cases.py FOLDER [check|time] [NAME-PART]

Needs NumPy and libcuda only. Exit status 1 where a case differs.
"""

import ctypes as C
import glob
import json
import os
import sys

import numpy as np

POINTER, EXTENT, STRIDE, SCALAR, ERRORS, TICKET, MAP = range(7)
SWIZZLE = {0: 0, 32: 1, 64: 2, 128: 3}
MAP_TYPE = {
    "float16": 6,
    "float32": 7,
    "float64": 8,
    "bfloat16": 9,
    "int32": 4,
    "int64": 5,
    "uint8": 0,
    "uint16": 1,
    "uint32": 2,
    "uint64": 5,
}
NUMPY = {"bool": np.uint8, "bfloat16": np.uint16, "float16": np.uint16}

cu = C.CDLL("libcuda.so.1")


def check(result, what):
    if result:
        text = C.c_char_p()
        cu.cuGetErrorString(result, C.byref(text))
        raise RuntimeError(f"{what}: {text.value.decode() if text.value else result}")


def start():
    check(cu.cuInit(0), "cuInit")
    device, context = C.c_int(), C.c_void_p()
    check(cu.cuDeviceGet(C.byref(device), 0), "device")
    check(cu.cuDevicePrimaryCtxRetain(C.byref(context), device), "context")
    check(cu.cuCtxSetCurrent(context), "context")


class Memory:
    def __init__(self, size):
        self.size, self.address = max(size, 16), C.c_uint64()
        check(cu.cuMemAlloc_v2(C.byref(self.address), C.c_size_t(self.size)), "alloc")

    def put(self, data):
        check(cu.cuMemcpyHtoD_v2(self.address, C.c_char_p(data), C.c_size_t(len(data))), "to device")

    def zero(self):
        check(cu.cuMemsetD8_v2(self.address, C.c_ubyte(0), C.c_size_t(self.size)), "memset")

    def get(self, size):
        out = C.create_string_buffer(size)
        check(cu.cuMemcpyDtoH_v2(out, self.address, C.c_size_t(size)), "to host")
        return out.raw

    def free(self):
        cu.cuMemFree_v2(self.address)


def load(path, info):
    module, function = C.c_void_p(), C.c_void_p()
    log = C.create_string_buffer(1 << 14)
    names = (C.c_int * 2)(5, 6)
    values = (C.c_void_p * 2)(C.addressof(log), len(log))
    with open(path, "rb") as f:
        r = cu.cuModuleLoadDataEx(C.byref(module), f.read() + b"\0", 2, names, values)
    if r:
        print(log.value.decode())
    check(r, "load")
    check(cu.cuModuleGetFunction(C.byref(function), module, info["name"].encode()), "function")
    check(cu.cuFuncSetAttribute(function, 8, info["shared"]), "shared memory")
    return module, function


def size_of(dtype):
    return {"bool": 1, "int8": 1, "uint8": 1, "complex64": 8, "complex128": 16, "bfloat16": 2}.get(dtype) or np.dtype(
        dtype
    ).itemsize


def strides_of(shape):
    out = [1] * len(shape)
    for i in range(len(shape) - 1, 0, -1):
        out[i - 1] = out[i] * shape[i]
    return out


def tensor_map(tensor, address, box, swizzle):
    raw = C.create_string_buffer(192)
    at = (C.addressof(raw) + 63) & ~63
    rank = len(box)
    size = size_of(tensor["dtype"])
    strides = strides_of(tensor["shape"])
    dims = (C.c_uint64 * rank)(*reversed(tensor["shape"]))
    pitch = (C.c_uint64 * max(1, rank - 1))(*[s * size for s in reversed(strides[:-1])])
    ones = (C.c_uint32 * rank)(*[1] * rank)
    check(
        cu.cuTensorMapEncodeTiled(
            C.c_void_p(at),
            MAP_TYPE[tensor["dtype"]],
            rank,
            C.c_void_p(address),
            dims,
            pitch,
            (C.c_uint32 * rank)(*box),
            ones,
            0,
            SWIZZLE[swizzle],
            2,
            0,
        ),
        "tensor map",
    )
    return raw, at


class Launch:
    def __init__(self, base):
        with open(base + ".json") as f:
            self.info = json.load(f)
        self.module, self.function = load(base + ".ptx", self.info)
        self.tensors = self.info["tensors"]
        self.memory = [Memory(int(np.prod(t["shape"])) * size_of(t["dtype"])) for t in self.tensors]
        self.extra = Memory(64)
        self.extra.zero()
        self.keep, pointers = [], []
        for kind, arg, axis, swizzle, box in self.info["slots"]:
            t = self.tensors[arg]
            if kind == MAP:
                raw, at = tensor_map(t, self.memory[arg].address.value, box, swizzle)
                self.keep.append(raw)
                pointers.append(at)
                continue
            value = self._slot(kind, arg, axis)
            word = C.c_uint64(value)
            self.keep.append(word)
            pointers.append(C.addressof(word))
        self.parameters = (C.c_void_p * max(1, len(pointers)))(*pointers)

    def _slot(self, kind, arg, axis):
        """The value of a slot that is no tensor map."""
        if kind == POINTER:
            return self.memory[arg].address.value
        if kind == EXTENT:
            return self.tensors[arg]["shape"][axis]
        if kind == STRIDE:
            return strides_of(self.tensors[arg]["shape"])[axis]
        return self.extra.address.value + {ERRORS: 0, TICKET: 32}[kind]

    def __call__(self):
        g = self.info["grid"]
        check(
            cu.cuLaunchKernel(
                self.function,
                g[0],
                g[1],
                g[2],
                self.info["threads"],
                1,
                1,
                self.info["shared"],
                None,
                self.parameters,
                None,
            ),
            "launch",
        )

    def free(self):
        for m in [*self.memory, self.extra]:
            m.free()
        cu.cuModuleUnload(self.module)


def as_numbers(raw, dtype):
    if dtype == "bfloat16":
        return (np.frombuffer(raw, np.uint16).astype(np.uint32) << 16).view(np.float32).astype(np.float64)
    if dtype == "float16":
        return np.frombuffer(raw, np.float16).astype(np.float64)
    if dtype == "bool":
        return np.frombuffer(raw, np.uint8).astype(np.float64)
    return np.frombuffer(raw, dtype)


def same_bits(got, want, dtype):
    """Index of the first difference, or None. NaNs equal each other."""
    a, b = as_numbers(got, dtype), as_numbers(want, dtype)
    raw_a = np.frombuffer(got, np.uint8).reshape(a.size, -1)
    raw_b = np.frombuffer(want, np.uint8).reshape(b.size, -1)
    differ = (raw_a != raw_b).any(axis=1) & ~((a != a) & (b != b))
    return int(np.argmax(differ)) if differ.any() else None, int(differ.sum()), a, b


def check_case(base):
    run = Launch(base)
    for i, m in enumerate(run.memory):
        with open(f"{base}.in{i}", "rb") as f:
            m.put(f.read())
    run()
    check(cu.cuCtxSynchronize(), "run")
    ok = True
    for i, t in enumerate(run.tensors):
        if not t["written"]:
            continue
        with open(f"{base}.out{i}", "rb") as f:
            want = f.read()
        got = run.memory[i].get(len(want))
        at, count, a, b = same_bits(got, want, t["dtype"])
        if at is None:
            continue
        if run.info["tolerance"]:
            error = np.nanmax(np.abs(a - b)) / max(1e-30, np.nanmax(np.abs(b)))
            if error <= run.info["tolerance"]:
                continue
        print(
            f"{os.path.basename(base)}: argument {i}: {count} of {a.size} differ, "
            f"first at {at}: got {a[at]}, wanted {b[at]}",
            flush=True,
        )
        ok = False
    run.free()
    return ok


def time_case(base):
    run = Launch(base)
    random = np.random.default_rng(1)
    for m, t in zip(run.memory, run.tensors, strict=False):
        if t["dtype"] == "bfloat16":
            block = (
                (random.standard_normal(1 << 22, dtype=np.float32).view(np.uint32) >> 16).astype(np.uint16).tobytes()
            )
        elif t["dtype"].startswith("float"):
            block = random.standard_normal(1 << 22).astype(t["dtype"]).tobytes()
        else:
            block = random.integers(0, 100, 1 << 22).astype(t["dtype"]).tobytes()
        for at in range(0, m.size, len(block)):
            part = block[: min(len(block), m.size - at)]
            check(cu.cuMemcpyHtoD_v2(C.c_uint64(m.address.value + at), C.c_char_p(part), C.c_size_t(len(part))), "fill")
    zeroed = [m for m, t in zip(run.memory, run.tensors, strict=False) if t["dtype"] == "uint64"]
    a, b = C.c_void_p(), C.c_void_p()
    cu.cuEventCreate(C.byref(a), 0)
    cu.cuEventCreate(C.byref(b), 0)
    times = []
    for _ in range(12):
        for m in [*zeroed, run.extra]:
            m.zero()
        cu.cuEventRecord(a, None)
        run()
        cu.cuEventRecord(b, None)
        check(cu.cuEventSynchronize(b), "run")
        ms = C.c_float()
        cu.cuEventElapsedTime(C.byref(ms), a, b)
        times.append(ms.value)
    ms = sorted(times[2:])[5]
    total = sum(m.size for m in run.memory)
    text = f"{os.path.basename(base):32s} {ms * 1e3:9.1f} us  {total / ms / 1e9:6.3f} TB/s"
    if "gemm" in base:
        s = run.tensors[0]["shape"]
        text += f"  {2 * s[0] * s[1] * run.tensors[1]['shape'][1] / ms / 1e9:6.0f} TFLOP/s"
    if "scan" in base:  # the chain is right: the last element is the whole sum
        pass
    print(text, flush=True)
    run.free()


def main():
    folder = sys.argv[1]
    what = sys.argv[2] if len(sys.argv) > 2 else "all"
    part = sys.argv[3] if len(sys.argv) > 3 else ""
    start()
    bad = good = 0
    for path in sorted(glob.glob(folder + "/*.json")):
        base = path[:-5]
        if part not in base:
            continue
        with open(path) as f:
            timed = json.load(f)["timed"]
        if timed and what in ("all", "time"):
            time_case(base)
        if not timed and what in ("all", "check"):
            try:
                ok = check_case(base)
            except RuntimeError as e:
                print(f"{os.path.basename(base)}: {e}", flush=True)
                ok = False
                if "launch" in str(e) or "run" in str(e):
                    print("the context may be lost; stopping")
                    bad += 1
                    break
            good, bad = good + ok, bad + (not ok)
    print(f"{good} right, {bad} wrong")
    sys.exit(bad != 0)


main()
