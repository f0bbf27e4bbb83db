// Stable ranks of digits by counting: one pass counts, one prefix sum over the bins, one pass hands out positions.
#include "epi/backend/cpu/target/cpu_emitter.h"

namespace epi::cpu {

void CpuEmitter::emit_rank(tile::RankOp op) {
  const std::int64_t n = tile::size_of(op.getDigits().getType());
  const std::int64_t bins = tile::size_of(op.getCounts().getType());
  const Buffer digits = materialise(op.getDigits());
  const Buffer ranks = result_buffer(op.getRanks());
  const Buffer counts = result_buffer(op.getCounts());
  const Buffer next = make_buffer(DType::kInt32, bins + 1);  // the last is for digits outside
  auto zeros = [&](const Buffer& b) {
    for_chunks({b.count}, lanes_for(4, b.count), [&](const Pos& p) { write(b, p, zero(DType::kInt32, p.lanes)); });
  };
  zeros(next);
  auto bin = [&](llvm::Value* i) {
    llvm::Value* d = read(digits, at(i)).re;
    llvm::Value* ok = b_.CreateICmpULT(d, b_.getInt32(static_cast<std::uint32_t>(bins)));
    return at(b_.CreateZExt(b_.CreateSelect(ok, d, b_.getInt32(static_cast<std::uint32_t>(bins))), b_.getInt64Ty()));
  };
  auto bump = [&](const Pos& p) {
    llvm::Value* old = read(next, p).re;
    write(next, p, {b_.CreateAdd(old, b_.getInt32(1))});
    return old;
  };
  if (n > 0) for_range(0, n, 1, [&](llvm::Value* i) { bump(bin(i)); });
  Loop sum = begin_loop(constant_index(0), constant_index(bins), constant_index(1), {b_.getInt32(0)});
  llvm::Value* count = read(next, at(sum.index)).re;
  write(counts, at(sum.index), {count});
  write(next, at(sum.index), {sum.carried[0]});
  end_loop(sum, {b_.CreateAdd(sum.carried[0], count)});
  write(next, at(bins), {sum.results[0]});
  if (n > 0) for_range(0, n, 1, [&](llvm::Value* i) { write(ranks, at(i), {bump(bin(i))}); });
}

}  // namespace epi::cpu
