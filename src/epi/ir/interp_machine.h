// The interpreter's machine: one program's values, the grid, errors, and the dispatch of ops. For ir/interp*.cpp only.
// An op is a specialisation of execute() in the file of its theme; one that lacks it fails to link.
#pragma once
#include <array>
#include <map>
#include <optional>
#include <tuple>

#include "epi/ir/dialect.h"
#include "epi/ir/interp.h"
#include "epi/ir/interp_shadow.h"
#include "epi/ir/interp_value.h"

namespace epi::ir::interp {

class Machine;
/// Computes the results of one op. Specialised for every op of the tile dialect and the scf and func ops in use.
template <class Op>
Status execute(Machine& machine, Op op);
using Handler = Status (*)(Machine&, mlir::Operation*);
/// The execute() of an op's class; null where the interpreter has none.
Handler find_handler(mlir::Operation& op);

/// One chain of look-back: the fold of the programs so far.
struct Chain {
  std::int64_t next = 0;  ///< the program along axis 0 whose turn it is
  Data prefix;
};

class Machine {
 public:
  using Frame = llvm::DenseMap<mlir::Value, Datum>;

  Machine(mlir::func::FuncOp kernel, const std::uint32_t grid[3], const InterpOptions& options)
      : kernel_(kernel), grid_{grid[0], grid[1], grid[2]}, options_(options) {}

  /// Checks `args` against the kernel and takes them.
  Status bind(std::span<const InterpArg> args);
  /// Runs every program. The first flagged error, where no other came.
  Status run();

  // -- values
  [[nodiscard]] const Datum& get(mlir::Value v) const;
  [[nodiscard]] Data get(mlir::ValueRange values) const;
  void set(mlir::Value v, Datum datum) { (*frame_)[v] = std::move(datum); }
  void set(mlir::ValueRange values, const Data& data);
  /// The operands, each with as many elements as the longest: single ones are repeated.
  [[nodiscard]] Data aligned(mlir::ValueRange values) const;
  [[nodiscard]] bool truth(mlir::Value v) const { return get(v).as<bool>()[0]; }

  // -- control
  /// Runs a block up to its terminator.
  Status run_block(mlir::Block& block);
  /// Runs `callee` on `arguments` in a frame of its own.
  Status call(mlir::func::FuncOp callee, const Data& arguments, Data& results);
  /// left op right for tuples whose members have equal counts; a region runs on all elements at once where its ops
  /// allow that, else once an element.
  Status fold(tile::CombineKind kind, mlir::Region& region, const Data& left, const Data& right, Data& results);

  // -- where we are
  [[nodiscard]] std::uint32_t program(unsigned axis) const { return program_[axis]; }
  [[nodiscard]] std::uint32_t programs(unsigned axis) const { return grid_[axis]; }
  [[nodiscard]] std::int64_t linear_program() const;
  [[nodiscard]] bool checked() const { return options_.checked; }
  HappensBefore& order() { return order_; }  ///< meaningful in checked mode
  Chain& chain(const View& state) { return chains_[{state.base, program_[1], program_[2]}]; }

  // -- effects
  /// Checked mode's look at an access to element `at` of a view; ok outside checked mode.
  Status note(mlir::Operation* op, const View& view, std::span<const std::int64_t> at, const std::byte* address,
              Access access);
  void print(const std::string& text) const;
  /// An error at `op`: "file:line:col: message (program (x, y, z))".
  [[nodiscard]] Status error(Code code, mlir::Operation* op, const std::string& message) const;
  /// What sets the launch's error flag: kept if it is the first. An error in checked mode, else ok: programs go on.
  Status flag(Status error);

 private:
  Status bind_view(unsigned i, const InterpArg& arg, tile::ViewType type);
  Status check_overlaps(std::size_t count);
  Status run_region(mlir::Region& region, const Data& arguments, Data& results);

  mlir::func::FuncOp kernel_;
  std::array<std::uint32_t, 3> grid_;
  std::array<std::uint32_t, 3> program_{};
  const InterpOptions& options_;
  Data arguments_;
  std::vector<bool> initialised_;  ///< an argument each
  Frame* frame_ = nullptr;
  int depth_ = 0;
  std::map<std::tuple<std::byte*, std::uint32_t, std::uint32_t>, Chain> chains_;
  Shadow shadow_;
  HappensBefore order_;
  Status flagged_;
};

/// The scalar or tile of `type` that a constant, padding or identity holds.
Datum datum_of(mlir::Attribute value, mlir::Type type);
/// "[1, 2]".
std::string describe(std::span<const std::int64_t> numbers);

}  // namespace epi::ir::interp
