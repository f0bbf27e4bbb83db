#include "epi/backend/cuda/target/gemm_emit.h"

#include <llvm/IR/Module.h>

namespace epi::cuda {
namespace {

using llvm::Value;

class Emitter {
 public:
  Emitter(llvm::IRBuilder<>& builder, const GemmShape& shape, Value* map_a, Value* map_b, GemmProgram& program)
      : b(builder), ptx(builder), s_(shape), map_a_(map_a), map_b_(map_b), program_(program) {}

  void emit() {
    setup();
    Value* group = ptx.warp_uniform(b.CreateLShr(ptx.tid(), 7));
    emit_if(
        b, b.CreateICmpEQ(group, i32(0)),
        [&] {
          if (s_.producer_regs() != 0) ptx.set_max_registers(s_.producer_regs(), false);
          emit_if(b, b.CreateICmpEQ(ptx.tid(), i32(0)), [&] { return produce(); });
          return LlvmValues{};
        },
        [&] {
          if (s_.consumer_regs() != 0) ptx.set_max_registers(s_.consumer_regs(), true);
          consume(b.CreateSub(group, i32(1)));
          return LlvmValues{};
        });
  }

 private:
  [[nodiscard]] llvm::ConstantInt* i32(std::uint32_t v) { return b.getInt32(v); }
  Value* full(Value* slot) { return b.CreateAdd(bars_, b.CreateShl(slot, 3)); }
  Value* empty(Value* slot) { return b.CreateAdd(bars_, b.CreateAdd(b.CreateShl(slot, 3), i32(8 * s_.stages))); }

  void setup();
  LlvmValues produce();
  void load_stage(const RingAt& at, const GemmCoords& where, Value* sub_m, Value* sub_n);
  void load_operand(const GemmOperand& o, Value* map, Value* dst, Value* bar, Value* row, Value* k);
  void consume(Value* consumer);
  LlvmValues multiply_sub(RingAt& at, Value* trips, Value* consumer);
  /// After the last multiplication nothing is loaded any more, and the ring holds all accumulators.
  [[nodiscard]] bool ring_is_free() const {
    return s_.subs_m * s_.subs_n == 1 && s_.acc_regs() * s_.consumers * 128 * 4 <= s_.bar_offset;
  }
  RingAt advance(const RingAt& at);
  LlvmValues over_subs(const LlvmValues& state, const std::function<LlvmValues(Value*, const LlvmValues&)>& body);

  llvm::IRBuilder<>& b;
  Ptx ptx;
  const GemmShape& s_;
  Value* map_a_;
  Value* map_b_;
  GemmProgram& program_;
  Value* ring_ = nullptr;  ///< shared address of the first stage
  Value* bars_ = nullptr;  ///< full barriers, then empty ones
};

void Emitter::setup() {
  auto* module = b.GetInsertBlock()->getModule();
  auto* type = llvm::ArrayType::get(b.getInt8Ty(), 0);
  auto* shared = new llvm::GlobalVariable(*module, type, false, llvm::GlobalValue::ExternalLinkage, nullptr,
                                          "epi_shared", nullptr, llvm::GlobalValue::NotThreadLocal, 3);
  shared->setAlignment(llvm::Align(1024));
  Value* base = b.CreatePtrToInt(shared, b.getInt32Ty());
  ring_ = b.CreateAnd(b.CreateAdd(base, i32(1023)), i32(~1023U));
  bars_ = b.CreateAdd(ring_, i32(s_.bar_offset));
  emit_if(b, b.CreateICmpEQ(ptx.tid(), i32(0)), [&] {
    ptx.tma_prefetch_map(map_a_);
    ptx.tma_prefetch_map(map_b_);
    for (std::uint32_t s = 0; s < s_.stages; ++s) {
      ptx.mbar_init(full(i32(s)), 1);
      ptx.mbar_init(empty(i32(s)), s_.consumers);
    }
    ptx.mbar_init_fence();
    return LlvmValues{};
  });
  ptx.sync_block();
}

RingAt Emitter::advance(const RingAt& at) {
  Value* next = b.CreateAdd(at.slot, i32(1));
  Value* wraps = b.CreateICmpEQ(next, i32(s_.stages));
  return {b.CreateSelect(wraps, i32(0), next), b.CreateXor(at.phase, b.CreateZExt(wraps, b.getInt32Ty()))};
}

LlvmValues Emitter::over_subs(const LlvmValues& state,
                              const std::function<LlvmValues(Value*, const LlvmValues&)>& body) {
  const std::uint32_t count = s_.subs_m * s_.subs_n;
  if (count == 1) return body(i32(0), state);
  return emit_loop(b, i32(0), i32(count), i32(1), state, body);
}

// -- the loading warpgroup -----------------------------------------------------------------------------------------
LlvmValues Emitter::produce() {
  Value* trips = program_.trips(b);
  over_subs({i32(0), i32(0)}, [&](Value* sub, const LlvmValues& state) {
    Value* sub_m = b.CreateMul(b.CreateURem(sub, i32(s_.subs_m)), i32(s_.sub_m));
    Value* sub_n = b.CreateMul(b.CreateUDiv(sub, i32(s_.subs_m)), i32(s_.sub_n));
    return emit_loop(b, i32(0), trips, i32(1), state, [&](Value* it, const LlvmValues& c) {
      const RingAt at{c[0], c[1]};
      ptx.mbar_wait(empty(at.slot), b.CreateXor(at.phase, i32(1)));
      load_stage(at, program_.operands(b, it), sub_m, sub_n);
      const RingAt next = advance(at);
      return LlvmValues{next.slot, next.phase};
    });
  });
  return {};
}

void Emitter::load_stage(const RingAt& at, const GemmCoords& where, Value* sub_m, Value* sub_n) {
  Value* bar = full(at.slot);
  ptx.mbar_expect(bar, s_.stage_bytes());
  Value* stage = b.CreateAdd(ring_, b.CreateMul(at.slot, i32(s_.stage_bytes())));
  load_operand(s_.a, map_a_, stage, bar, b.CreateAdd(where.a_m, sub_m), where.a_k);
  load_operand(s_.b, map_b_, b.CreateAdd(stage, i32(s_.a.bytes())), bar, b.CreateAdd(where.b_n, sub_n), where.b_k);
}

void Emitter::load_operand(const GemmOperand& o, Value* map, Value* dst, Value* bar, Value* row, Value* k) {
  for (std::uint32_t p = 0; p < o.panels; ++p) {
    Value* inner = b.CreateAdd(o.mn_major ? row : k, i32(p * o.inner));
    Value* coords[] = {inner, o.mn_major ? k : row};
    ptx.tma_load(map, b.CreateAdd(dst, i32(p * o.panel_bytes)), bar, coords);
  }
}

// -- the multiplying warpgroups ------------------------------------------------------------------------------------
void Emitter::consume(Value* consumer) {
  Value* trips = program_.trips(b);
  Value* lane = b.CreateAnd(ptx.tid(), i32(31));
  Value* warp = b.CreateAnd(b.CreateLShr(ptx.tid(), 5), i32(3));
  over_subs({i32(0), i32(0)}, [&](Value* sub, const LlvmValues& state) {
    RingAt at{state[0], state[1]};
    const LlvmValues acc = multiply_sub(at, trips, consumer);
    Value* row = b.CreateMul(b.CreateURem(sub, i32(s_.subs_m)), i32(s_.sub_m));
    row = b.CreateAdd(row, b.CreateMul(consumer, i32(s_.frags * 64)));
    row = b.CreateAdd(row, b.CreateAdd(b.CreateMul(warp, i32(16)), b.CreateLShr(lane, 2)));
    Value* col = b.CreateMul(b.CreateUDiv(sub, i32(s_.subs_m)), i32(s_.sub_n));
    col = b.CreateAdd(col, b.CreateShl(b.CreateAnd(lane, i32(3)), 1));
    program_.finish(b, {row, col, acc, ring_is_free() ? ring_ : nullptr, b.CreateSub(ptx.tid(), i32(128))});
    return LlvmValues{at.slot, at.phase};
  });
}

LlvmValues Emitter::multiply_sub(RingAt& at, Value* trips, Value* consumer) {
  WgmmaLoop loop;
  loop.bf16 = s_.problem.bf16;
  loop.n = s_.sub_n;
  loop.frags = s_.frags;
  loop.a_mn_major = s_.a.mn_major;
  loop.b_mn_major = s_.b.mn_major;
  loop.a_frag = s_.a.mn_major ? s_.a.panel_bytes : 64 * s_.a.swizzle;
  loop.a_step = s_.a.k_step;
  loop.b_step = s_.b.k_step;
  loop.a_descriptor = s_.a.descriptor;
  loop.b_descriptor = s_.b.descriptor;
  loop.stages = s_.stages;
  loop.stage_bytes = s_.stage_bytes();
  loop.b_offset = s_.a.bytes();
  Value* own = b.CreateAdd(ring_, b.CreateMul(consumer, i32(s_.frags * loop.a_frag)));
  Value* elected = b.CreateZExt(b.CreateICmpEQ(b.CreateAnd(ptx.tid(), i32(127)), i32(0)), b.getInt32Ty());
  const LlvmValues start(s_.acc_regs(), program_.initial(b));
  return ptx.wgmma_loop(loop, trips, own, ring_, bars_, elected, at, start);
}

}  // namespace

void emit_gemm(llvm::IRBuilder<>& b, const GemmShape& shape, Value* map_a, Value* map_b, GemmProgram& program) {
  Emitter(b, shape, map_a, map_b, program).emit();
}

LlvmValues emit_grouped_ids(llvm::IRBuilder<>& b, unsigned group) {
  Ptx ptx(b);
  Value* x = ptx.grid_dim(0);
  Value* y = ptx.grid_dim(1);
  Value* linear = b.CreateAdd(b.CreateMul(ptx.block_id(1), x), ptx.block_id(0));
  Value* per_group = b.CreateMul(y, b.getInt32(group));
  Value* index = b.CreateUDiv(linear, per_group);
  Value* within = b.CreateSub(linear, b.CreateMul(index, per_group));
  Value* first = b.CreateMul(index, b.getInt32(group));
  Value* left = b.CreateSub(x, first);
  Value* width = b.CreateSelect(b.CreateICmpULT(left, b.getInt32(group)), left, b.getInt32(group));
  return {b.CreateAdd(first, b.CreateURem(within, width)), b.CreateUDiv(within, width), ptx.block_id(2)};
}

}  // namespace epi::cuda
