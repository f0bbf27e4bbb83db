// print ops: the call that a kernel makes, and the function behind it, which formats as C does.
#include <cstdio>
#include <cstring>
#include <string>

#include "epi/backend/cpu/target/cpu_emitter.h"
#include "epi/backend/cpu/target/host_calls.h"

namespace epi::cpu {

void CpuEmitter::emit_print(tile::PrintOp op) {
  const auto count = static_cast<unsigned>(op.getValues().size());
  mlir::Value tile_value;
  for (mlir::Value v : op.getValues())
    if (mlir::isa<mlir::RankedTensorType>(v.getType())) tile_value = v;
  std::string text = op.getFormat().str();
  if (tile_value && (text.empty() || text.back() != '\n')) text += '\n';
  std::string dtypes;
  for (mlir::Value v : op.getValues()) dtypes += static_cast<char>(tile::dtype_of(v.getType()));
  llvm::Value* format = b_.CreateGlobalString(text, "format");
  llvm::Value* kinds = b_.CreateGlobalString(dtypes, "dtypes");
  llvm::Value* values = stack(llvm::ArrayType::get(b_.getInt8Ty(), 16 * std::max(count, 1U)), 16);
  auto* type = llvm::FunctionType::get(b_.getVoidTy(), {b_.getPtrTy(), b_.getPtrTy(), b_.getPtrTy(), b_.getInt32Ty()}, false);
  llvm::FunctionCallee callee = module_.getOrInsertFunction("epi_host_print", type);
  auto call = [&](llvm::function_ref<Vec(mlir::Value)> get) {
    for (unsigned i = 0; i < count; ++i) {
      mlir::Value v = op.getValues()[i];
      store_memory(tile::dtype_of(v.getType()), get(v), b_.CreateConstGEP1_32(b_.getInt8Ty(), values, 16 * i), llvm::Align(1), 0);
    }
    b_.CreateCall(callee, {format, values, kinds, b_.getInt32(count)});
  };
  if (!tile_value) return call([&](mlir::Value v) { return scalar(v); });
  llvm::SmallVector<mlir::Value, 4> roots;
  for (mlir::Value v : op.getValues())
    if (mlir::isa<mlir::RankedTensorType>(v.getType())) roots.push_back(v);
  for_each(roots, tile::shape_of(tile_value.getType()), [&](const Pos& pos) { call([&](mlir::Value v) { return pull(v, pos); }); },
           {}, 1);
}

namespace {

template <class T>
T read(const void* p) {
  T out;
  std::memcpy(&out, p, sizeof(T));
  return out;
}

double as_double(DType d, const void* p) {
  return visit_dtype(d, [&]<class T>() -> double {
    if constexpr (requires(T x) { x.real(); }) return static_cast<double>(read<T>(p).real());
    else if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) return static_cast<float>(read<T>(p));
    else return static_cast<double>(read<T>(p));
  });
}

long long as_integer(DType d, const void* p) {
  return visit_dtype(d, [&]<class T>() -> long long {
    if constexpr (std::is_integral_v<T>) {
      const T v = read<T>(p);
      if constexpr (std::is_same_v<T, std::uint64_t>) return v > INT64_MAX ? INT64_MAX : static_cast<long long>(v);
      else return static_cast<long long>(v);
    } else {
      const double v = as_double(d, p);
      return v != v ? 0 : v >= 0x1p63 ? INT64_MAX : v <= -0x1p63 ? INT64_MIN : static_cast<long long>(v);
    }
  });
}

unsigned long long as_bits(DType d, const void* p) {
  return visit_dtype(d, [&]<class T>() -> unsigned long long {
    if constexpr (std::is_integral_v<T>) {
      const T v = read<T>(p);
      if constexpr (sizeof(T) <= 4) return static_cast<std::uint32_t>(v);
      else return static_cast<std::uint64_t>(v);
    } else {
      return static_cast<unsigned long long>(as_integer(d, p));
    }
  });
}

template <class T>
void append(std::string& out, const std::string& format, T value) {
  char small[128];
  const int size = std::snprintf(small, sizeof small, format.c_str(), value);
  if (size <= 0) return;
  if (static_cast<std::size_t>(size) < sizeof small) {
    out.append(small, static_cast<std::size_t>(size));
    return;
  }
  const std::size_t at = out.size();
  out.resize(at + static_cast<std::size_t>(size) + 1);
  std::snprintf(out.data() + at, static_cast<std::size_t>(size) + 1, format.c_str(), value);
  out.pop_back();
}

void convert(std::string& out, const std::string& spec, char letter, DType d, const void* p) {
  switch (letter) {
    case 'd':
    case 'i': return append(out, "%" + spec + "lld", as_integer(d, p));
    case 'u':
    case 'x':
    case 'X':
    case 'o': return append(out, "%" + spec + "ll" + letter, as_bits(d, p));
    case 'c': out += static_cast<char>(as_integer(d, p)); return;
    default: return append(out, "%" + spec + letter, as_double(d, p));
  }
}

}  // namespace
}  // namespace epi::cpu

extern "C" void epi_host_print(const char* format, const void* values, const std::uint8_t* dtypes, std::uint32_t count) {
  std::string out;
  std::uint32_t next = 0;
  for (const char* f = format; *f; ++f) {
    if (*f != '%') {
      out += *f;
      continue;
    }
    std::string spec;
    for (++f; *f && std::strchr("-+ #0123456789.hlLjzt", *f); ++f)
      if (!std::strchr("hlLjzt", *f)) spec += *f;
    if (!*f) break;
    if (*f == '%') out += '%';
    else if (next < count) {
      epi::cpu::convert(out, spec, *f, static_cast<epi::DType>(dtypes[next]), static_cast<const char*>(values) + std::size_t{16} * next);
      ++next;
    }
  }
  std::fwrite(out.data(), 1, out.size(), stdout);
  std::fflush(stdout);
}
