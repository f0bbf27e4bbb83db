#include "epi/backend/cuda/target/ptx_isa.h"

#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/IntrinsicsNVPTX.h>

namespace epi::cuda {
namespace {

using llvm::Value;

std::string list(unsigned first, unsigned count) {
  std::string s;
  for (unsigned i = 0; i < count; ++i) s += (i ? ",$" : "$") + std::to_string(first + i);
  return s;
}

}  // namespace

std::uint64_t wgmma_descriptor(std::uint32_t swizzle, std::uint32_t leading, std::uint32_t stride) {
  const std::uint64_t mode = swizzle == 128 ? 1 : swizzle == 64 ? 2 : swizzle == 32 ? 3 : 0;
  return (std::uint64_t{leading >> 4} & 0x3fff) << 16 | (std::uint64_t{stride >> 4} & 0x3fff) << 32 | mode << 62;
}

// -- where am I ----------------------------------------------------------------------------------------------------
Value* Ptx::special(unsigned intrinsic) {
  return b.CreateIntrinsic(static_cast<llvm::Intrinsic::ID>(intrinsic), {}, {});
}

Value* Ptx::tid() { return special(llvm::Intrinsic::nvvm_read_ptx_sreg_tid_x); }

Value* Ptx::block_id(int axis) {
  return special(axis == 0   ? llvm::Intrinsic::nvvm_read_ptx_sreg_ctaid_x
                 : axis == 1 ? llvm::Intrinsic::nvvm_read_ptx_sreg_ctaid_y
                             : llvm::Intrinsic::nvvm_read_ptx_sreg_ctaid_z);
}

Value* Ptx::grid_dim(int axis) {
  return special(axis == 0   ? llvm::Intrinsic::nvvm_read_ptx_sreg_nctaid_x
                 : axis == 1 ? llvm::Intrinsic::nvvm_read_ptx_sreg_nctaid_y
                             : llvm::Intrinsic::nvvm_read_ptx_sreg_nctaid_z);
}

Value* Ptx::warp_uniform(Value* v) {
  return b.CreateIntrinsic(llvm::Intrinsic::nvvm_shfl_sync_idx_i32, {},
                           {b.getInt32(-1), v, b.getInt32(0), b.getInt32(31)});
}

// -- effects -------------------------------------------------------------------------------------------------------
void Ptx::effect(const std::string& text, const std::string& constraints, llvm::ArrayRef<Value*> args) {
  llvm::SmallVector<llvm::Type*> types;
  for (Value* a : args) types.push_back(a->getType());
  auto* type = llvm::FunctionType::get(b.getVoidTy(), types, false);
  auto* code = llvm::InlineAsm::get(type, text, constraints + (constraints.empty() ? "" : ",") + "~{memory}", true);
  auto* call = b.CreateCall(type, code, args);
  call->addFnAttr(llvm::Attribute::Convergent);
  call->addFnAttr(llvm::Attribute::NoUnwind);
}

Value* Ptx::result(llvm::Type* type, const std::string& text, const std::string& constraints,
                   llvm::ArrayRef<Value*> args) {
  llvm::SmallVector<llvm::Type*> types;
  for (Value* a : args) types.push_back(a->getType());
  auto* function = llvm::FunctionType::get(type, types, false);
  auto* call = b.CreateCall(function, llvm::InlineAsm::get(function, text, constraints + ",~{memory}", true), args);
  call->addFnAttr(llvm::Attribute::Convergent);
  call->addFnAttr(llvm::Attribute::NoUnwind);
  return call;
}

void Ptx::sync_block() { b.CreateIntrinsic(llvm::Intrinsic::nvvm_barrier0, {}, {}); }

void Ptx::sync_warp() { b.CreateIntrinsic(llvm::Intrinsic::nvvm_bar_warp_sync, {}, {b.getInt32(-1)}); }

void Ptx::sync_named(unsigned id, unsigned threads) {
  effect("bar.sync " + std::to_string(id) + ", " + std::to_string(threads) + ";", "", {});
}

void Ptx::set_max_registers(unsigned count, bool increase) {
  effect(std::string("setmaxnreg.") + (increase ? "inc" : "dec") + ".sync.aligned.u32 " + std::to_string(count) + ";",
         "", {});
}

// -- mbarriers -----------------------------------------------------------------------------------------------------
void Ptx::mbar_init(Value* bar, unsigned count) {
  effect("mbarrier.init.shared::cta.b64 [$0], $1;", "r,r", {bar, b.getInt32(count)});
}

void Ptx::mbar_init_fence() { effect("fence.mbarrier_init.release.cluster;\nfence.proxy.async.shared::cta;", "", {}); }

void Ptx::mbar_expect(Value* bar, std::uint32_t bytes) {
  effect("mbarrier.arrive.expect_tx.shared::cta.b64 _, [$0], $1;", "r,r", {bar, b.getInt32(bytes)});
}

void Ptx::mbar_arrive(Value* bar) { effect("mbarrier.arrive.shared::cta.b64 _, [$0];", "r", {bar}); }

void Ptx::mbar_wait(Value* bar, Value* parity) {
  effect(
      "{\n.reg .pred done;\nAGAIN:\nmbarrier.try_wait.parity.shared::cta.b64 done, [$0], $1;\n@done bra OVER;\n"
      "bra AGAIN;\nOVER:\n}",
      "r,r", {bar, parity});
}

// -- tensor memory accelerator -------------------------------------------------------------------------------------
void Ptx::tma_prefetch_map(Value* map) { effect("prefetch.tensormap [$0];", "l", {map}); }

void Ptx::tma_load(Value* map, Value* dst, Value* bar, std::span<Value* const> coords) {
  std::string constraints = "r,l,r";
  llvm::SmallVector<Value*> args = {dst, map, bar};
  for (Value* c : coords) {
    constraints += ",r";
    args.push_back(c);
  }
  effect("cp.async.bulk.tensor." + std::to_string(coords.size()) +
             "d.shared::cluster.global.mbarrier::complete_tx::bytes [$0], [$1, {" +
             list(3, static_cast<unsigned>(coords.size())) + "}], [$2];",
         constraints, args);
}

// -- tensor cores --------------------------------------------------------------------------------------------------
namespace {

/// The products of one stage; `da` and `db` are scratch, `a` and `bb` the stage's descriptors.
std::string wgmma_stage(const WgmmaLoop& s) {
  const unsigned regs = s.n / 2;
  const std::string head =
      "wgmma.mma_async.sync.aligned.m64n" + std::to_string(s.n) + "k16.f32." + (s.bf16 ? "bf16.bf16 {" : "f16.f16 {");
  const std::string tail =
      std::string("}, da, db, yes, 1, 1, ") + (s.a_mn_major ? "1, " : "0, ") + (s.b_mn_major ? "1;\n" : "0;\n");
  std::string text = "wgmma.fence.sync.aligned;\n";
  for (std::size_t k = 0; k < s.a_step.size(); ++k) {
    text += "add.s64 db, bb, " + std::to_string(s.b_step[k] >> 4) + ";\n";
    for (unsigned f = 0; f < s.frags; ++f) {
      text += "add.s64 da, aa, " + std::to_string((s.a_step[k] + f * s.a_frag) >> 4) + ";\n";
      text += head + list(f * regs, regs) + tail;
    }
  }
  return text + "wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 1;\n";
}

/// A descriptor from a shared address in `address`, to `out`.
std::string descriptor(const std::string& out, const std::string& address, std::uint64_t fixed) {
  return "shr.u32 t, " + address + ", 4;\ncvt.u64.u32 " + out + ", t;\nor.b64 " + out + ", " + out + ", " +
         std::to_string(fixed) + ";\n";
}

/// $slot, $phase: operands that move; $in[0..4]: trips, a, ring, bars, elected.
std::string loop_text(const WgmmaLoop& s, const std::string& slot, const std::string& phase,
                      llvm::ArrayRef<std::string> in) {
  const std::string stage = std::to_string(s.stage_bytes);
  const std::string empty = std::to_string(8 * s.stages);
  return "{\n.reg .pred yes, p, mine;\n.reg .b32 left, bar, prev, at, t;\n.reg .b64 aa, bb, da, db;\n"
         "setp.eq.b32 yes, 0, 0;\nmov.b32 left, " +
         in[0] +
         ";\nmov.b32 prev, 0;\n"
         "setp.le.s32 p, left, 0;\n@p bra OVER;\nsetp.eq.b32 mine, 0, 1;\n"
         "LOOP:\nshl.b32 bar, " +
         slot + ", 3;\nadd.u32 bar, bar, " + in[3] +
         ";\n"
         "WAIT:\nmbarrier.try_wait.parity.shared::cta.b64 p, [bar], " +
         phase +
         ";\n@!p bra WAIT;\n"
         "mad.lo.u32 at, " +
         slot + ", " + stage + ", " + in[1] + ";\n" + descriptor("aa", "at", s.a_descriptor) + "mad.lo.u32 at, " +
         slot + ", " + stage + ", " + in[2] + ";\nadd.u32 at, at, " + std::to_string(s.b_offset) + ";\n" +
         descriptor("bb", "at", s.b_descriptor) + wgmma_stage(s) +
         "@mine mbarrier.arrive.shared::cta.b64 _, [prev];\n"
         "add.u32 prev, bar, " +
         empty + ";\nsetp.ne.u32 mine, " + in[4] +
         ", 0;\n"
         "add.u32 " +
         slot + ", " + slot + ", 1;\nsetp.eq.u32 p, " + slot + ", " + std::to_string(s.stages) +
         ";\n"
         "selp.u32 " +
         slot + ", 0, " + slot + ", p;\nselp.u32 t, 1, 0, p;\nxor.b32 " + phase + ", " + phase +
         ", t;\n"
         "sub.u32 left, left, 1;\nsetp.gt.s32 p, left, 0;\n@p bra LOOP;\n"
         "wgmma.wait_group.sync.aligned 0;\n@mine mbarrier.arrive.shared::cta.b64 _, [prev];\nOVER:\n}";
}

}  // namespace

llvm::SmallVector<Value*> Ptx::several(llvm::Type* element, unsigned count, const std::string& text,
                                       const std::string& constraints, llvm::ArrayRef<Value*> args, bool memory) {
  llvm::SmallVector<llvm::Type*> types;
  for (Value* a : args) types.push_back(a->getType());
  auto* result = llvm::StructType::get(b.getContext(), llvm::SmallVector<llvm::Type*>(count, element));
  auto* type = llvm::FunctionType::get(result, types, false);
  auto* call =
      b.CreateCall(type, llvm::InlineAsm::get(type, text, constraints + (memory ? ",~{memory}" : ""), memory), args);
  call->addFnAttr(llvm::Attribute::Convergent);
  call->addFnAttr(llvm::Attribute::NoUnwind);
  llvm::SmallVector<Value*> values;
  for (unsigned i = 0; i < count; ++i) values.push_back(b.CreateExtractValue(call, i));
  return values;
}

llvm::SmallVector<Value*> Ptx::load_matrix(Value* address, unsigned count, bool transposed) {
  std::string out;
  for (unsigned i = 0; i < count; ++i) out += "=r,";
  return several(b.getInt32Ty(), count,
                 "ldmatrix.sync.aligned.m8n8.x" + std::to_string(count) + (transposed ? ".trans" : "") +
                     ".shared.b16 {" + list(0, count) + "}, [$" + std::to_string(count) + "];",
                 out + "r", {address}, true);
}

llvm::SmallVector<Value*> Ptx::mma(bool bf16, llvm::ArrayRef<Value*> left, llvm::ArrayRef<Value*> right,
                                   llvm::ArrayRef<Value*> acc) {
  llvm::SmallVector<Value*> args(left.begin(), left.end());
  args.append(right.begin(), right.end());
  args.append(acc.begin(), acc.end());
  return several(b.getFloatTy(), 4,
                 std::string("mma.sync.aligned.m16n8k16.row.col.f32.") + (bf16 ? "bf16.bf16" : "f16.f16") +
                     ".f32 {$0,$1,$2,$3}, {$4,$5,$6,$7}, {$8,$9}, {$10,$11,$12,$13};",
                 "=f,=f,=f,=f,r,r,r,r,r,r,f,f,f,f", args, false);
}

llvm::SmallVector<Value*, 0> Ptx::wgmma_loop(const WgmmaLoop& loop, Value* trips, Value* a, Value* ring, Value* bars,
                                             Value* elected, RingAt& at, std::span<Value* const> acc) {
  const auto count = static_cast<unsigned>(acc.size());
  std::string out;
  std::string in;
  llvm::SmallVector<Value*> args(acc.begin(), acc.end());
  for (unsigned i = 0; i < count; ++i) out += "=f,";
  out += "=r,=r";
  args.append({at.slot, at.phase, trips, a, ring, bars, elected});
  for (unsigned i = 0; i < count + 2; ++i) in += "," + std::to_string(i);
  llvm::SmallVector<llvm::Type*> types;
  for (Value* v : args) types.push_back(v->getType());
  auto* result = llvm::StructType::get(b.getContext(), llvm::ArrayRef(types).take_front(count + 2));
  auto* type = llvm::FunctionType::get(result, types, false);
  const auto operand = [&](unsigned i) { return "$" + std::to_string(i); };
  llvm::SmallVector<std::string> rest;
  for (unsigned i = 0; i < 5; ++i) rest.push_back(operand(2 * (count + 2) + i));
  const std::string text = loop_text(loop, operand(count), operand(count + 1), rest);
  auto* call = b.CreateCall(type, llvm::InlineAsm::get(type, text, out + in + ",r,r,r,r,r,~{memory}", true), args);
  call->addFnAttr(llvm::Attribute::Convergent);
  call->addFnAttr(llvm::Attribute::NoUnwind);
  llvm::SmallVector<Value*, 0> values;
  for (unsigned i = 0; i < count; ++i) values.push_back(b.CreateExtractValue(call, i));
  at = {b.CreateExtractValue(call, count), b.CreateExtractValue(call, count + 1)};
  return values;
}

}  // namespace epi::cuda
