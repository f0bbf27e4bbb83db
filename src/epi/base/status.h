// The one error channel below Python: Status and Result<T>. Nothing here throws; messages say what, with which values,
// and what to do. python/bind turns a Status into an exception class by its code.
#pragma once
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <utility>

namespace epi {

enum class Code : unsigned char {
  kOk,
  kInvalidArgument,  ///< ValueError
  kType,             ///< TypeError
  kIndex,            ///< IndexError
  kOutOfMemory,      ///< MemoryError
  kUnsupported,      ///< NotImplementedError
  kCompile,          ///< epitaxy.CompileError (with the user's line where known)
  kDevice,           ///< epitaxy.DeviceError: driver failures, no such device
  kIo,               ///< OSError
  kInternal,         ///< epitaxy.InternalError: a bug of ours, with what to report
};

class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(Code code, std::string message) : code_(code), message_(std::move(message)) {}
  [[nodiscard]] bool ok() const { return code_ == Code::kOk; }
  explicit operator bool() const { return ok(); }
  [[nodiscard]] Code code() const { return code_; }
  [[nodiscard]] const std::string& message() const { return message_; }
  /// The same error with `context` put before its message.
  [[nodiscard]] Status with_context(const std::string& context) const {
    return ok() ? *this : Status(code_, context + ": " + message_);
  }

 private:
  Code code_ = Code::kOk;
  std::string message_;
};

template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}            // NOLINT: implicit by design
  Result(Status status) : status_(std::move(status)) {}    // NOLINT
  [[nodiscard]] bool ok() const { return value_.has_value(); }
  explicit operator bool() const { return ok(); }
  [[nodiscard]] const Status& status() const { return status_; }
  [[nodiscard]] T& value() & { return *value_; }
  [[nodiscard]] const T& value() const& { return *value_; }
  [[nodiscard]] T&& value() && { return std::move(*value_); }
  T& operator*() & { return *value_; }
  const T& operator*() const& { return *value_; }
  T&& operator*() && { return std::move(*value_); }
  T* operator->() { return &*value_; }
  const T* operator->() const { return &*value_; }

 private:
  Status status_;
  std::optional<T> value_;
};

[[nodiscard]] inline Status ok_status() { return {}; }
[[nodiscard]] inline Status invalid_argument(std::string m) { return {Code::kInvalidArgument, std::move(m)}; }
[[nodiscard]] inline Status type_error(std::string m) { return {Code::kType, std::move(m)}; }
[[nodiscard]] inline Status out_of_memory(std::string m) { return {Code::kOutOfMemory, std::move(m)}; }
[[nodiscard]] inline Status unsupported(std::string m) { return {Code::kUnsupported, std::move(m)}; }
[[nodiscard]] inline Status compile_error(std::string m) { return {Code::kCompile, std::move(m)}; }
[[nodiscard]] inline Status device_error(std::string m) { return {Code::kDevice, std::move(m)}; }
[[nodiscard]] inline Status io_error(std::string m) { return {Code::kIo, std::move(m)}; }
[[nodiscard]] inline Status internal_error(std::string m) { return {Code::kInternal, std::move(m)}; }

}  // namespace epi

#define EPI_CONCAT_(a, b) a##b
#define EPI_CONCAT(a, b) EPI_CONCAT_(a, b)
/// Returns the Status of `expr` if it is an error.
#define EPI_RETURN_IF_ERROR(expr)                       \
  do {                                                  \
    if (::epi::Status epi_s_ = (expr); !epi_s_.ok()) return epi_s_; \
  } while (false)
/// EPI_TRY(auto x, expr): x is the value of the Result, or the error is returned.
#define EPI_TRY(decl, expr) EPI_TRY_(decl, expr, EPI_CONCAT(epi_r_, __LINE__))
#define EPI_TRY_(decl, expr, tmp)     \
  auto tmp = (expr);                  \
  if (!tmp.ok()) return tmp.status(); \
  decl = std::move(tmp).value()
/// A broken law of the code itself (never user input): says where and ends the process.
#define EPI_CHECK(cond)                                                                       \
  do {                                                                                        \
    if (!(cond)) {                                                                            \
      std::fprintf(stderr, "epitaxy: check failed: %s at %s:%d\n", #cond, __FILE__, __LINE__); \
      std::abort();                                                                           \
    }                                                                                         \
  } while (false)
