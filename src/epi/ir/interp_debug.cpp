// Assertions and prints.
#include "epi/ir/interp_elementwise.h"
#include "epi/ir/interp_machine.h"

namespace epi::ir::interp {
namespace {

/// One conversion of a C format: "%-5.2lld" is spec "-5.2" and letter 'd'. Length modifiers are the value's business.
struct Conversion {
  std::string spec;
  char letter = 0;
};

Conversion parse_conversion(llvm::StringRef format, std::size_t& at) {
  Conversion c;
  for (; at < format.size(); ++at) {
    const char x = format[at];
    if (llvm::StringRef("hlLjzt").contains(x)) continue;
    if (llvm::StringRef("-+ #0123456789.").contains(x)) {
      c.spec += x;
      continue;
    }
    c.letter = x;
    ++at;
    break;
  }
  return c;
}

template <class T>
std::string printed(const std::string& format, T value) {
  std::string out(64, '\0');
  const int size = std::snprintf(out.data(), out.size(), format.c_str(), value);
  if (size < 0) return "";
  out.resize(static_cast<std::size_t>(size) + 1);
  std::snprintf(out.data(), out.size(), format.c_str(), value);
  out.pop_back();
  return out;
}

std::string convert(const Conversion& c, const Datum& value) {
  const std::string head = "%" + c.spec;
  if (llvm::StringRef("di").contains(c.letter))
    return printed(head + "lld",
                   static_cast<long long>(cast(Cast::k_saturate, value, DType::kInt64).as<std::int64_t>()[0]));
  if (llvm::StringRef("uxXo").contains(c.letter)) {
    // Negative 32-bit and narrower integers print as their own width does in C: int promotion first.
    const DType to = size_bytes(value.dtype()) <= 4 && is_integer(value.dtype()) ? DType::kUInt32 : DType::kUInt64;
    const Datum bits = cast(Cast::k_wrap, cast(Cast::k_wrap, value, to), DType::kUInt64);
    return printed(head + "ll" + c.letter, static_cast<unsigned long long>(bits.as<std::uint64_t>()[0]));
  }
  if (c.letter == 'c') return std::string(1, static_cast<char>(to_int64(value)[0]));
  return printed(head + c.letter, cast(Cast::k_wrap, value, DType::kFloat64).as<double>()[0]);
}

/// The text for element `i` of every value.
std::string format_element(llvm::StringRef format, const Data& values, std::int64_t i) {
  std::string out;
  std::size_t next = 0;
  for (std::size_t at = 0; at < format.size();) {
    const char x = format[at++];
    if (x != '%') {
      out += x;
      continue;
    }
    const Conversion c = parse_conversion(format, at);
    if (c.letter == '%')
      out += '%';
    else if (c.letter && next < values.size())
      out += convert(c, part(values[next++], i, 1));
  }
  return out;
}

}  // namespace

template <>
Status execute(Machine& m, tile::AssertOp op) {
  const Datum& condition = m.get(op.getCondition());
  for (std::int64_t i = 0; i < condition.count(); ++i) {
    if (condition.as<bool>()[static_cast<std::size_t>(i)]) continue;
    const std::string where = condition.count() > 1 ? " at element " + std::to_string(i) : "";
    return m.flag(m.error(Code::kDevice, op, "assertion failed: " + op.getMessage().str() + where));
  }
  return {};
}

template <>
Status execute(Machine& m, tile::PrintOp op) {
  const bool tiles =
      llvm::any_of(op.getValues(), [](mlir::Value v) { return mlir::isa<mlir::RankedTensorType>(v.getType()); });
  const Data values = m.aligned(op.getValues());
  const std::int64_t count = values.empty() ? 1 : values[0].count();
  for (std::int64_t i = 0; i < count; ++i) {
    std::string text = format_element(op.getFormat(), values, i);
    if (tiles && !llvm::StringRef(text).ends_with("\n")) text += '\n';
    m.print(text);
  }
  return {};
}

}  // namespace epi::ir::interp
