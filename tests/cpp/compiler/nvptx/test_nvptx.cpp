// The cuda target without a GPU: every case compiles for every processor, its code verifies, its contract is what the
// launcher expects, and its PTX says what the case is about. Where ptxas is installed it must accept all of it.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "cases.h"
#include "epi/compiler/compiler.h"

namespace epi::nvptx_test {
namespace {

using namespace epi::ir;

ArgSpec spec_of(const Tensor& t) {
  ArgSpec s;
  s.is_view = true;
  s.view.dtype = t.dtype;
  s.view.extents = Shape(t.shape.size(), kDynamic);
  s.view.strides = Shape(t.shape.size(), kDynamic);
  s.view.strides.back() = 1;
  s.view.divisors = Shape(t.shape.size(), 16);
  s.view.align = 16;
  s.view.alias = t.alias;
  return s;
}

Result<compiler::Compiled> compile_case(const Case& c, const std::string& arch) {
  std::vector<ArgSpec> specs;
  for (const Tensor& t : c.tensors) specs.push_back(spec_of(t));
  Builder b("kernel", specs, c.ascending);
  c.build(b);
  EPI_TRY(const Module module, b.finish());
  compiler::CompileOptions options;
  options.target = "cuda";
  options.arch = arch;
  options.dump = [](std::string_view, std::string_view) {};  // makes the target verify its code
  return compiler::compile(module, options);
}

std::vector<Case> all_cases() {
  std::vector<Case> all;
  for (auto* group : {&elementwise_cases, &fold_cases, &chain_cases, &contraction_cases, &timed_cases})
    for (Case& c : group()) all.push_back(std::move(c));
  return all;
}

Case case_named(const std::string& name) {
  for (Case& c : all_cases())
    if (c.name == name) return c;
  ADD_FAILURE() << "no case " << name;
  return {};
}

std::string ptx_of(const std::string& name, const std::string& arch = "") {
  const auto compiled = compile_case(case_named(name), arch);
  EXPECT_TRUE(compiled.ok()) << compiled.status().message();
  return compiled.ok() ? compiled->bytes : "";
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t n = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
  return n;
}

class Processors : public testing::TestWithParam<const char*> {};

TEST_P(Processors, TakeEveryCaseThatFitsTheirSharedMemory) {
  const std::string ptxas = "/usr/local/cuda/bin/ptxas";
  const std::string folder = testing::TempDir();
  for (const Case& c : all_cases()) {
    const auto compiled = compile_case(c, GetParam());
    if (!compiled.ok()) {
      EXPECT_NE(compiled.status().message().find("shared memory"), std::string::npos)
          << c.name << ": " << compiled.status().message();
      continue;
    }
    EXPECT_NE(compiled->bytes.find(std::string(".target ") + GetParam()), std::string::npos) << c.name;
    EXPECT_GT(compiled->info.block_threads, 0U) << c.name;
    // One old and the newest target stand for all: an assembly takes longer than all else here.
    const bool assembled = std::string(GetParam()) == "sm_80" || std::string(GetParam()) == "sm_90a";
    if (!assembled || !std::filesystem::exists(ptxas)) continue;
    std::ofstream(folder + "/case.ptx") << compiled->bytes;
    const std::string command =
        ptxas + " -arch=" + GetParam() + " -v -o /dev/null " + folder + "/case.ptx > " + folder + "/log 2>&1";
    const int status = std::system(command.c_str());
    std::ifstream log(folder + "/log");
    const std::string text((std::istreambuf_iterator<char>(log)), {});
    EXPECT_EQ(status, 0) << c.name << ": " << text;
    EXPECT_EQ(text.find("serialized"), std::string::npos) << c.name << ": wgmma would run one at a time\n" << text;
    if (std::string(GetParam()) == "sm_90a")
      EXPECT_NE(text.find(" 0 bytes spill stores"), std::string::npos) << c.name << ": registers are spilled\n" << text;
  }
}
INSTANTIATE_TEST_SUITE_P(All, Processors, testing::Values("sm_80", "sm_89", "sm_90", "sm_90a"));

TEST(Nvptx, UnknownProcessorIsRefusedWithTheKnownOnes) {
  const auto compiled = compile_case(case_named("square_float32"), "sm_35");
  ASSERT_FALSE(compiled.ok());
  EXPECT_NE(compiled.status().message().find("sm_90a"), std::string::npos);
}

TEST(Nvptx, VectorAddMovesSixteenBytesAtOnceThroughTheReadOnlyPath) {
  const std::string ptx = ptx_of("time_add_1024");
  EXPECT_GE(count(ptx, "ld.global.nc.v4.f32"), 4U);
  EXPECT_GE(count(ptx, "st.global.v4.f32"), 2U);
}

TEST(Nvptx, ArithmeticIsNeverContractedOrFlushed) {
  const std::string ptx = ptx_of("chain_affine");
  EXPECT_GE(count(ptx, "mul.rn.f32"), 1U);
  EXPECT_GE(count(ptx, "add.rn.f32"), 1U);
  EXPECT_EQ(count(ptx, "fma.rn.f32"), 0U);
  EXPECT_EQ(count(ptx, ".ftz"), 0U);
}

TEST(Nvptx, SoftmaxRowsStayInRegisters) {
  const auto compiled = compile_case(case_named("time_softmax_8192"), "");
  ASSERT_TRUE(compiled.ok());
  EXPECT_LT(compiled->info.shared_bytes, 8192U * 4);  // the folds' own, not the row's
  EXPECT_EQ(count(compiled->bytes, "ld.global.nc.v4.f32"), 4U);
}

TEST(Nvptx, ContractionReachesWgmmaThroughTensorMaps) {
  const auto compiled = compile_case(case_named("gemm_wgmma_nn"), "sm_90a");
  ASSERT_TRUE(compiled.ok());
  EXPECT_GE(count(compiled->bytes, "wgmma.mma_async"), 4U);
  EXPECT_GE(count(compiled->bytes, "cp.async.bulk.tensor.2d"), 3U);
  std::vector<Slot> maps;
  for (const Slot& s : compiled->info.slots)
    if (s.kind == SlotKind::kTensorMap) maps.push_back(s);
  ASSERT_EQ(maps.size(), 2U);
  EXPECT_EQ(maps[0].arg, 0);
  EXPECT_EQ(maps[1].arg, 1);
  EXPECT_EQ(maps[0].box, (std::vector<std::uint32_t>{64, 128}));
  EXPECT_EQ(maps[1].box, (std::vector<std::uint32_t>{64, 64}));
  EXPECT_EQ(maps[0].swizzle_bytes, 128);
  EXPECT_EQ(compiled->info.written, 4U);  // the third argument alone
}

TEST(Nvptx, OtherGpusContractWithMmaSyncAndKeepAccumulatorsInRegisters) {
  const auto compiled = compile_case(case_named("gemm_wgmma_nt_bias"), "sm_80");
  ASSERT_TRUE(compiled.ok()) << compiled.status().message();
  EXPECT_GE(count(compiled->bytes, "mma.sync.aligned.m16n8k16"), 8U);
  EXPECT_EQ(count(compiled->bytes, "wgmma"), 0U);
  EXPECT_LT(compiled->info.shared_bytes, 65536U);
}

TEST(Nvptx, LookbackKernelTakesATicket) {
  const auto compiled = compile_case(case_named("chain_i32"), "");
  ASSERT_TRUE(compiled.ok());
  EXPECT_TRUE(compiled->info.ascending);
  EXPECT_TRUE(std::any_of(compiled->info.slots.begin(), compiled->info.slots.end(),
                          [](const Slot& s) { return s.kind == SlotKind::kTicket; }));
}

TEST(Nvptx, TooMuchSharedMemoryIsALocatedErrorWithTheSizes) {
  Case c = case_named("take_reverse");
  c.tensors = {random_tensor(DType::kFloat32, {100000}, 1), output_tensor(DType::kFloat32, {100000})};
  c.build = [](Builder& b) {
    const Value zero[] = {i64(b, 0)};
    Value x = b.load(b.args()[0], zero, Shape{100000});
    b.store(b.args()[1], zero, b.take(b.binary(Binary::k_add, x, x), b.iota(DType::kInt32, Shape{100000}, 0), 0));
  };
  const auto compiled = compile_case(c, "");
  ASSERT_FALSE(compiled.ok());
  EXPECT_NE(compiled.status().message().find("232448"), std::string::npos) << compiled.status().message();
}

}  // namespace
}  // namespace epi::nvptx_test
