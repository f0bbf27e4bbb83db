// Status, Result and their macros; log's channel; the dtype table's look-ups.
#include <gtest/gtest.h>

#include <set>

#include "epi/base/dtype.h"
#include "epi/base/log.h"
#include "epi/base/status.h"

namespace epi {
namespace {

Result<int> half(int x) {
  if (x % 2 != 0) return invalid_argument(std::to_string(x) + " is odd");
  return x / 2;
}

Result<int> quarter(int x) {
  EPI_TRY(const int h, half(x));
  return half(h);
}

Status check_quarter(int x) {
  EPI_RETURN_IF_ERROR(quarter(x).status());
  return ok_status();
}

TEST(Status, DefaultIsOk) {
  EXPECT_TRUE(Status().ok());
  EXPECT_TRUE(ok_status().message().empty());
}

TEST(Status, TryReturnsTheFirstError) {
  EXPECT_EQ(*quarter(8), 2);
  EXPECT_EQ(quarter(6).status().message(), "3 is odd");
  EXPECT_EQ(quarter(5).status().message(), "5 is odd");
  EXPECT_EQ(check_quarter(6).code(), Code::kInvalidArgument);
  EXPECT_TRUE(check_quarter(8).ok());
}

TEST(Status, ContextGoesBeforeTheMessageAndKeepsTheCode) {
  const Status status = io_error("no such file").with_context("cache");
  EXPECT_EQ(status.message(), "cache: no such file");
  EXPECT_EQ(status.code(), Code::kIo);
  EXPECT_TRUE(ok_status().with_context("cache").message().empty());
}

TEST(Status, AResultMovesItsValueOut) {
  Result<std::unique_ptr<int>> result(std::make_unique<int>(7));
  const std::unique_ptr<int> value = std::move(result).value();
  EXPECT_EQ(*value, 7);
}

std::string g_seen;

TEST(Log, ReportGoesToTheSinkWithItsPlace) {
  const ReportSink former = set_report_sink([](std::string_view text) { g_seen = text; });
  report(ok_status(), "nowhere");
  EXPECT_EQ(g_seen, "");
  report(io_error("disk full"), "cache");
  EXPECT_EQ(g_seen, "cache: disk full");
  set_report_sink(former);
}

TEST(DType, NamesFindTheirRows) {
  std::set<std::string_view> names;
  for (int i = 0; i < kDTypeCount; ++i) {
    const auto dtype = static_cast<DType>(i);
    EXPECT_EQ(dtype_from_name(name(dtype)), dtype) << name(dtype);
    names.insert(name(dtype));
  }
  EXPECT_EQ(names.size(), static_cast<std::size_t>(kDTypeCount));
  EXPECT_EQ(dtype_from_name("float128"), std::nullopt);
}

TEST(DType, SizesAreThoseOfTheCppTypes) {
  for (int i = 0; i < kDTypeCount; ++i) {
    const auto dtype = static_cast<DType>(i);
    EXPECT_EQ(visit_dtype(dtype, []<class T>() { return sizeof(T); }), size_bytes(dtype)) << name(dtype);
  }
}

}  // namespace
}  // namespace epi
