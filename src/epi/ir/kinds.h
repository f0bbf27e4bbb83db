// Enums of kinds.def for code without MLIR; values equal the dialect's own (a static_assert in dialect.cpp says so).
#pragma once
#include <cstdint>
#include <string_view>

namespace epi::ir {

#define EPI_UNARY(n, t)
#define EPI_BINARY(n, t)
#define EPI_COMPARE(n)
#define EPI_COMBINE(n)
#define EPI_CAST(n)
#define EPI_ATOMIC(n)
#define EPI_ORDER(n)
#define EPI_SCOPE(n)

enum class Unary : std::uint32_t {
#undef EPI_UNARY
#define EPI_UNARY(n, t) k_##n,
#include "epi/ir/kinds.def"
#undef EPI_UNARY
#define EPI_UNARY(n, t)
};
enum class Binary : std::uint32_t {
#undef EPI_BINARY
#define EPI_BINARY(n, t) k_##n,
#include "epi/ir/kinds.def"
#undef EPI_BINARY
#define EPI_BINARY(n, t)
};
enum class Compare : std::uint32_t {
#undef EPI_COMPARE
#define EPI_COMPARE(n) k_##n,
#include "epi/ir/kinds.def"
#undef EPI_COMPARE
#define EPI_COMPARE(n)
};
enum class Combine : std::uint32_t {
#undef EPI_COMBINE
#define EPI_COMBINE(n) k_##n,
#include "epi/ir/kinds.def"
#undef EPI_COMBINE
#define EPI_COMBINE(n)
};
enum class Cast : std::uint32_t {
#undef EPI_CAST
#define EPI_CAST(n) k_##n,
#include "epi/ir/kinds.def"
#undef EPI_CAST
#define EPI_CAST(n)
};
enum class Atomic : std::uint32_t {
#undef EPI_ATOMIC
#define EPI_ATOMIC(n) k_##n,
#include "epi/ir/kinds.def"
#undef EPI_ATOMIC
#define EPI_ATOMIC(n)
};
enum class Order : std::uint32_t {
#undef EPI_ORDER
#define EPI_ORDER(n) k_##n,
#include "epi/ir/kinds.def"
#undef EPI_ORDER
#define EPI_ORDER(n)
};
enum class Scope : std::uint32_t {
#undef EPI_SCOPE
#define EPI_SCOPE(n) k_##n,
#include "epi/ir/kinds.def"
#undef EPI_SCOPE
#define EPI_SCOPE(n)
};

#undef EPI_UNARY
#undef EPI_BINARY
#undef EPI_COMPARE
#undef EPI_COMBINE
#undef EPI_CAST
#undef EPI_ATOMIC
#undef EPI_ORDER
#undef EPI_SCOPE

}  // namespace epi::ir
