// Prints through the driver's vprintf: a format and a block of 8-byte arguments. The format's length modifiers are made
// to fit the values' types, as the interpreter does.
#include "epi/backend/cuda/target/gpu_emitter.h"

namespace epi::cuda {
namespace {

using llvm::Value;

/// The value as the conversion letter wants it: i64 or double.
Value* convert(GpuEmitter& e, char letter, const Vec& v, DType d, mlir::Operation* op) {
  using ir::Cast;
  auto& b = e.builder();
  if (llvm::StringRef("dic").contains(letter)) return e.cast(v, d, DType::kInt64, Cast::k_saturate, op).re;
  if (llvm::StringRef("uxXo").contains(letter)) {
    if (!is_integer(d) || size_bytes(d) > 4) return e.cast(v, d, DType::kUInt64, Cast::k_wrap, op).re;
    return b.CreateZExt(e.cast(v, d, DType::kUInt32, Cast::k_wrap, op).re, b.getInt64Ty());
  }
  return e.cast(v, d, DType::kFloat64, Cast::k_wrap, op).re;
}

/// A format whose conversions take 8-byte arguments, and which value and letter each conversion has.
struct Format {
  std::string text;
  std::string letters;
};

Format rewrite(llvm::StringRef format, std::size_t values) {
  Format out;
  for (std::size_t at = 0; at < format.size();) {
    const char x = format[at++];
    out.text += x;
    if (x != '%') continue;
    std::string spec;
    char letter = 0;
    while (at < format.size() && letter == 0) {
      const char y = format[at++];
      if (llvm::StringRef("-+ #0123456789.").contains(y))
        spec += y;
      else if (!llvm::StringRef("hlLjzt").contains(y))
        letter = y;
    }
    if (letter == '%') {
      out.text += '%';
    } else if (letter == 0 || out.letters.size() >= values) {
      out.text.pop_back();
    } else {
      out.text += spec + (llvm::StringRef("diuxXo").contains(letter) ? "ll" : "") + letter;
      out.letters += letter;
    }
  }
  return out;
}

void print_one(GpuEmitter& e, tile::PrintOp op, const Format& format, llvm::ArrayRef<Vec> values) {
  auto& b = e.builder();
  auto* type = llvm::FunctionType::get(b.getInt32Ty(), {b.getPtrTy(), b.getPtrTy()}, false);
  const llvm::FunctionCallee vprintf = e.module().getOrInsertFunction("vprintf", type);
  Value* block = llvm::ConstantPointerNull::get(b.getPtrTy());
  if (!format.letters.empty()) {
    llvm::IRBuilder<>::InsertPointGuard guard(b);
    auto& entry = b.GetInsertBlock()->getParent()->getEntryBlock();
    b.SetInsertPoint(&entry, entry.getFirstInsertionPt());
    block = b.CreateAlloca(llvm::ArrayType::get(b.getInt64Ty(), format.letters.size()));
  }
  for (std::size_t i = 0; i < format.letters.size(); ++i) {
    const DType d = tile::dtype_of(op.getValues()[i].getType());
    Value* v = convert(e, format.letters[i], values[i], d, op);
    b.CreateStore(v, b.CreateConstGEP1_64(b.getInt64Ty(), block, i));
  }
  b.CreateCall(vprintf, {b.CreateGlobalStringPtr(format.text, "format"), block});
}

}  // namespace

void GpuEmitter::emit_print(tile::PrintOp op) {
  mlir::Value tile;
  for (mlir::Value v : op.getValues())
    if (mlir::isa<mlir::RankedTensorType>(v.getType())) tile = v;
  const Format format = rewrite(op.getFormat(), op.getValues().size());
  const auto walk = prepare(llvm::to_vector(op.getValues()), false);
  if (!tile) {
    once([&] {
      llvm::SmallVector<Vec> values;
      for (mlir::Value v : op.getValues()) values.push_back(scalar(v));
      print_one(*this, op, format, values);
    });
    return;
  }
  const std::int64_t count = tile::size_of(tile.getType());
  versioned(walk.accesses, {}, [&] {
    once([&] {  // in order of the elements, by one thread
      Loop loop = begin_loop(i32(0), i32(count), i32(1));
      llvm::SmallVector<Vec> values;
      for (mlir::Value v : op.getValues()) values.push_back(pull(v, at(loop.index)));
      print_one(*this, op, format, values);
      end_loop(loop);
    });
  });
}

}  // namespace epi::cuda
