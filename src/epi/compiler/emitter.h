// Emits a kernel's LLVM IR from Tile IR, "chunks on demand": a tile value is not computed at its op but pulled, a vector
// of lanes at a time, by the roots (store, reduce, ...), each of which is a loop over chunks. The core here knows the
// ops; what a machine does in its own way (how chunks are spread, reductions across lanes, scratch, errors) is virtual.
// A target derives Emitter, one object a kernel. Law: emission never fails halfway; fail() records the first error with
// the op's location and hands out poison, and run() returns it.
#pragma once
#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/DenseSet.h>
#include <llvm/ADT/FunctionExtras.h>
#include <llvm/ADT/STLFunctionalExtras.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "epi/base/status.h"
#include "epi/compiler/analysis.h"
#include "epi/compiler/values.h"
#include "epi/device/kernel_abi.h"
#include "epi/ir/dialect.h"
#include "epi/ir/builder.h"

namespace epi::ir::math {
struct Table;
enum class MathFn : std::uint8_t;
}  // namespace epi::ir::math

namespace epi::compiler {

class Emitter {
 public:
  Emitter(llvm::Module& module, mlir::func::FuncOp kernel, KernelInfo& info, const AnalysisOptions& options = {});
  virtual ~Emitter();
  Emitter(const Emitter&) = delete;
  Emitter& operator=(const Emitter&) = delete;

  /// Emits everything. The module then holds one function named info.name.
  Status run();

  using Body = llvm::function_ref<void(const Pos&)>;

  // ================================================================ what a target provides
  // -- frame. begin_kernel makes the function and leaves the builder where the program's body goes; the core then emits
  // the body once, for the program whose coordinates program_id gives.
  virtual void begin_kernel() = 0;
  virtual void end_kernel() = 0;
  /// Slot `i`'s 64 bits, as i64; called while the body is emitted, valid everywhere (emit it in the entry block).
  virtual llvm::Value* slot(unsigned i) = 0;
  virtual llvm::Value* program_id(unsigned axis) = 0;    ///< i32
  virtual llvm::Value* num_programs(unsigned axis) = 0;  ///< i32
  virtual llvm::Value* linear_program() = 0;             ///< i32
  /// Slots beyond arguments and errors (a ticket, tensor maps) are appended to info_.slots here.
  virtual void add_slots() {}
  /// Type of scalar positions (Pos::index): i32 or i64.
  virtual llvm::Type* index_type() = 0;
  /// Address space of views' memory; scratch is where make_buffer puts it.
  [[nodiscard]] virtual unsigned view_address_space() const { return 0; }
  /// Address space of constant arrays, and the generic pointer to one.
  [[nodiscard]] virtual unsigned constant_address_space() const { return 0; }
  virtual llvm::Value* generic_pointer(llvm::GlobalVariable* global) { return global; }

  // -- chunks
  /// Lanes of a chunk in a loop over `count` elements whose widest register type is `widest` bytes. A power of two.
  virtual unsigned lanes_for(unsigned widest, std::int64_t count) = 0;
  /// Runs `body` for chunks that cover the tile exactly once; lanes is lanes_for's answer, or fewer where it does not
  /// divide. `body` may be emitted several times (unrolled, and again for a tail), each in its own scope.
  virtual void for_chunks(llvm::ArrayRef<std::int64_t> shape, unsigned lanes, Body body) = 0;
  /// Around ops that write memory others of the program's threads may read.
  virtual void before_effect(mlir::Operation* op) { (void)op; }
  virtual void after_effect(mlir::Operation* op) { (void)op; }
  /// Code with an effect for the whole program (scalar scatter, print): emitted so that it runs once.
  virtual void once(llvm::function_ref<void()> body) { body(); }
  /// Same with a scalar result that every thread gets.
  virtual Vec once_value(mlir::Type type, llvm::function_ref<Vec()> body) {
    (void)type;
    return body();
  }

  /// Whether heavy loops are emitted once, over copies of tiles that hang over an edge.
  [[nodiscard]] virtual bool stage_edges() const { return false; }

  // -- scratch
  virtual Buffer make_buffer(DType dtype, std::int64_t count) = 0;
  /// Where a value that loops compute once is kept.
  virtual Buffer make_storage(mlir::Value v) { return make_buffer(tile::dtype_of(v.getType()), tile::size_of(v.getType())); }
  /// All threads of the program have finished what comes before: called between writing a buffer and reading it, before
  /// a buffer is written again, and around stores that later loads may see. Nothing where a program is one thread.
  virtual void barrier() {}

  // -- collectives and the rest. They call finish_result for each result.
  virtual void emit_reduce(tile::ReduceOp op) = 0;
  virtual void emit_scan(tile::ScanOp op) = 0;
  virtual void emit_rank(tile::RankOp op) = 0;
  virtual void emit_lookback(tile::LookbackOp op) = 0;
  virtual void emit_mma(tile::MmaOp op) = 0;
  virtual void emit_print(tile::PrintOp op) = 0;
  /// Sets the launch's error record to `site` where `failed` (i1) holds and no error is there yet.
  virtual void report_error(llvm::Value* failed, unsigned site, llvm::Value* item) = 0;
  /// One lane of memory under a condition: x86 aims a select at dummy memory, a GPU branches.
  virtual llvm::Value* checked_load(llvm::Type* type, llvm::Value* pointer, llvm::Value* ok, llvm::Value* otherwise,
                                    llvm::Align align, unsigned alias_scope) = 0;
  virtual void checked_store(llvm::Value* value, llvm::Value* pointer, llvm::Value* ok, llvm::Align align,
                             unsigned alias_scope) = 0;
  /// Whether masked vector accesses of this dtype are worth emitting (else one lane at a time).
  virtual bool masked_memory(DType dtype) {
    (void)dtype;
    return true;
  }
  /// Whether loops that test bounds may go one lane at a time; not where a thread must meet its own chunks again.
  [[nodiscard]] virtual bool scalar_edges() const { return true; }
  /// Whether an op that the core would emit itself is taken by the target (a GEMM loop on tensor cores, ...).
  virtual bool emit_special(mlir::Operation* op) {
    (void)op;
    return false;
  }
  /// float16 from f64 must round once; x86 has no instruction for it.
  virtual bool native_half_from_double() const { return false; }
  /// llvm.minimum and llvm.maximum of f32 (NaN if either is, -0 below +0) are one instruction.
  virtual bool native_minmax() const { return false; }
  virtual llvm::SyncScope::ID sync_scope(tile::MemoryScope scope) {
    (void)scope;
    return llvm::SyncScope::System;
  }

  // ================================================================ what a target may call
  // -- pulling
  /// The lanes of tile (or scalar: splat) `v` at `pos`. Memoised in the current scope.
  Vec pull(mlir::Value v, const Pos& pos);
  /// What pulling `v` at `pos` gives in the current scope: for values that a target has in its own registers.
  void remember(mlir::Value v, const Pos& pos, Vec value);
  /// A scalar of the program.
  Vec scalar(mlir::Value v);
  void set_scalar(mlir::Value v, Vec value) { scalars_[v] = value; }
  /// Makes everything that pulling `roots` needs available, but for values that the coming loop will write itself
  /// because it walks them at identity positions. Call before a loop over chunks; after it call `walked`.
  struct Walk {
    llvm::SmallVector<mlir::Value, 4> written;   ///< stored values that the loop computes and must write
    llvm::SmallVector<mlir::Operation*, 8> accesses;  ///< loads pulled inside
    unsigned widest = 1;                         ///< register bytes of the widest dtype pulled
    bool heavy = false;                          ///< a chunk is much code (math functions)
  };
  Walk prepare(llvm::ArrayRef<mlir::Value> roots, bool identity);
  void walked(const Walk& walk);
  /// In a chunk of a loop prepared with identity = true: writes the chunk's stored values.
  void write_walked(const Walk& walk, const Pos& pos);
  /// A whole root: prepares, loops over chunks (twice where accesses may leave their views: all inside, and checked),
  /// and calls body(pos) in each. `extra` are the root's own accesses; lanes stay at or under `max_lanes`.
  void for_each(llvm::ArrayRef<mlir::Value> roots, llvm::ArrayRef<std::int64_t> shape, Body body,
                llvm::ArrayRef<const Access*> extra = {}, unsigned max_lanes = 1024);
  /// Emits `fast` where `inside` holds and `checked` otherwise (one of them only where it is constant).
  void versioned(llvm::ArrayRef<mlir::Operation*> accesses, llvm::ArrayRef<const Access*> extra,
                 llvm::function_ref<void()> emit);

  /// versioned, or for heavy loops of targets that ask for it the body once, over staged copies of what hangs over an
  /// edge. `extra_shape` is the tile shape of the extra accesses.
  void run_versions(const Walk& walk, llvm::ArrayRef<const Access*> extra, llvm::ArrayRef<std::int64_t> extra_shape,
                    llvm::function_ref<void()> emit);

  // -- results of roots
  /// Puts `v` in a new buffer that the caller fills; later pulls read it.
  Buffer result_buffer(mlir::Value v);
  void bind_buffer(mlir::Value v, const Buffer& buffer) { buffers_[v] = buffer; }
  virtual Vec read(const Buffer& buffer, const Pos& pos);
  virtual void write(const Buffer& buffer, const Pos& pos, Vec value);
  /// The buffer of `v`, computing it first where it is not there yet.
  Buffer materialise(mlir::Value v);
  [[nodiscard]] bool available(mlir::Value v) const { return buffers_.count(v) != 0; }

  // -- positions
  Pos at(std::int64_t position, unsigned lanes = 1);  ///< constant
  Pos at(llvm::Value* index, unsigned lanes = 1, std::int64_t multiple = 1);
  Pos at_lanes(llvm::Value* positions);               ///< <n x i32>
  /// <lanes x i32> of positions, whatever the kind.
  llvm::Value* lane_positions(const Pos& pos);
  /// Quotient and remainder of a scalar index or lane vector; memoised; loops seed it with what they know.
  std::pair<llvm::Value*, llvm::Value*> divmod(llvm::Value* index, std::int64_t extent);
  void seed_divmod(llvm::Value* index, std::int64_t extent, llvm::Value* quotient, llvm::Value* remainder);
  /// Coordinates of lanes: along one axis, the others uniform; or each lane its own.
  struct Coords {
    llvm::SmallVector<llvm::Value*, 4> axis;  ///< index type (lane 0's), or <lanes x i32> each where per_lane
    unsigned lanes = 1;
    unsigned lane_axis = 0;                   ///< not per_lane: the axis along which lanes count up; others are uniform
    std::int64_t lane_multiple = 1;           ///< not per_lane: divides axis[lane_axis]
    bool per_lane = false;
  };
  Coords coordinates(const Pos& pos, llvm::ArrayRef<std::int64_t> shape);
  Coords per_lane(const Coords& coords);
  /// Row-major position (scalar or lanes, as the coordinates are) in a tile of `shape`; axes of extent 1 count 0.
  llvm::Value* linearise(const Coords& coords, llvm::ArrayRef<std::int64_t> shape);
  Pos position_of(const Coords& coords, llvm::ArrayRef<std::int64_t> shape);
  /// The lanes of `v` at coordinates, whatever they run along.
  Vec pull_at(mlir::Value v, const Coords& coords);

  // -- arithmetic on lanes; `op` is for errors
  Vec unary(ir::Unary kind, Vec v, DType dtype, mlir::Operation* op);
  Vec binary(ir::Binary kind, Vec a, Vec b, DType dtype, mlir::Operation* op);
  Vec compare(ir::Compare kind, Vec a, Vec b, DType dtype, mlir::Operation* op);
  Vec cast(Vec v, DType from, DType to, ir::Cast mode, mlir::Operation* op);
  Vec bitcast(Vec v, DType from, DType to);
  Vec select(llvm::Value* mask, Vec a, Vec b);
  Vec fma(Vec a, Vec b, Vec c, DType dtype);
  llvm::Value* math(ir::math::MathFn fn, llvm::Value* x, llvm::Value* y);  ///< f32 or f64 lanes
  /// An elementwise op of scalars or tiles on lanes of its operands. `pos` names the lanes in error records.
  Vec elementwise(mlir::Operation* op, llvm::ArrayRef<Vec> operands, unsigned lanes, const Pos* pos);
  /// Folds left and right tuples with a reduce's, scan's or lookback's combiner.
  llvm::SmallVector<Vec, 2> combine(ir::Combine kind, mlir::Region& region, llvm::ArrayRef<Vec> left,
                                    llvm::ArrayRef<Vec> right, llvm::ArrayRef<DType> dtypes, mlir::Operation* op);
  Vec constant(mlir::Attribute value, DType dtype, unsigned lanes);
  Vec scalar_constant(const ir::Scalar& value, DType dtype);
  Vec zero(DType dtype, unsigned lanes);
  /// The identity of a combiner (add 0, minimum the largest, ...).
  Vec identity(ir::Combine kind, DType dtype, unsigned lanes);
  Vec splat(Vec v, unsigned lanes);
  Vec shuffle(Vec a, Vec b, llvm::ArrayRef<int> mask);
  Vec extract(Vec v, unsigned lane);  ///< a scalar
  Vec insert(Vec v, Vec scalar, unsigned lane);
  llvm::Value* any(llvm::Value* mask);  ///< i1: some lane is set

  // -- types and memory
  llvm::Type* register_type(DType dtype, unsigned lanes);  ///< of Vec::re (and im)
  llvm::Type* memory_type(DType dtype);                    ///< one element (complex: its component)
  Vec load_memory(DType dtype, llvm::Value* pointer, unsigned lanes, llvm::Align align, unsigned alias_scope);
  void store_memory(DType dtype, Vec v, llvm::Value* pointer, llvm::Align align, unsigned alias_scope);
  /// One lane under a condition (checked_load, checked_store), of any dtype.
  Vec load_if(DType dtype, llvm::Value* pointer, llvm::Value* ok, Vec otherwise, llvm::Align align, unsigned alias_scope);
  void store_if(DType dtype, Vec value, llvm::Value* pointer, llvm::Value* ok, llvm::Align align, unsigned alias_scope);
  ViewValue view(mlir::Value v);
  Access access(mlir::Value view, mlir::ValueRange offsets, llvm::ArrayRef<std::int64_t> tile, bool inbounds);
  /// The view's elements at tile coordinates; bounds are tested where checked_ holds. `padding` is a scalar.
  Vec load_at(const Access& access, const Coords& coords, Vec padding);
  void store_at(const Access& access, const Coords& coords, Vec value);
  /// A divisor of a scalar integer that is known from its expression.
  std::int64_t known_divisor(mlir::Value v) const;
  /// Alias scope of an alias class or of a new buffer: pass it to load_memory and store_memory.
  unsigned view_scope(std::int64_t alias_class);
  unsigned buffer_scope();
  void tag(llvm::Instruction* access, unsigned scope);

  // -- control
  struct Loop {
    llvm::BasicBlock* header = nullptr;
    llvm::BasicBlock* exit = nullptr;
    llvm::PHINode* index = nullptr;
    llvm::Value* step = nullptr;
    llvm::Value* to = nullptr;
    bool known_trip = true;
    llvm::SmallVector<llvm::PHINode*, 4> carried;  ///< their values in this trip
    llvm::SmallVector<llvm::Value*, 4> results;    ///< after end_loop: their values behind the loop
  };
  /// for (index = from; index < to; index += step), signed; at least one trip where `known_trip`. Pushes a scope.
  Loop begin_loop(llvm::Value* from, llvm::Value* to, llvm::Value* step, llvm::ArrayRef<llvm::Value*> initial = {},
                  bool known_trip = true);
  void end_loop(Loop& loop, llvm::ArrayRef<llvm::Value*> next = {});
  void if_then(llvm::Value* condition, llvm::function_ref<void()> then);
  /// Emits the ops of a block in order (roots at once, scalars at once, tiles when pulled).
  void emit_block(mlir::Block& block);
  void emit_op(mlir::Operation* op);

  // -- errors
  /// Records the error; gives poison of the type asked for.
  Vec fail(mlir::Operation* op, const std::string& message, DType dtype = DType::kInt32, unsigned lanes = 1);
  [[nodiscard]] bool failed() const { return !status_.ok(); }
  /// 1 + index of the site's message.
  unsigned site(mlir::Operation* op, const std::string& message);
  llvm::Value* constant_index(std::int64_t v);
  llvm::Value* table(const ir::math::Table& table);  ///< a private constant array

  llvm::IRBuilder<>& builder() { return b_; }
  llvm::Module& module() { return module_; }
  Analysis& analysis() { return analysis_; }

  /// Memos of one region of code; inner scopes see outer ones.
  class Scope {
   public:
    explicit Scope(Emitter& e);
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    Emitter& e_;
  };
  void push_scope();
  void pop_scope();

 protected:
  llvm::Module& module_;
  llvm::LLVMContext& context_;
  llvm::IRBuilder<> b_;
  mlir::func::FuncOp kernel_;
  KernelInfo& info_;
  Analysis analysis_;
  llvm::Function* function_ = nullptr;
  bool heavy_ = false;    ///< emitting a loop whose chunk is much code: unroll less
  bool checked_ = false;  ///< emitting the version whose accesses test bounds
  int error_slot_ = -1;   ///< index into info_.slots
  bool needs_errors();    ///< the kernel has an op that reports

 private:
  struct Key {
    const void* value;
    const void* index;
    unsigned lanes;
    bool operator<(const Key& o) const { return std::tie(value, index, lanes) < std::tie(o.value, o.index, o.lanes); }
  };
  struct Memo {
    std::map<Key, Vec> values;
    std::map<std::pair<llvm::Value*, std::int64_t>, std::pair<llvm::Value*, llvm::Value*>> divmods;
    std::map<std::pair<llvm::Value*, unsigned>, llvm::Value*> lanes;
  };
  struct Sight;
  // emitter.cpp
  void layout_slots();
  void bind_arguments();
  void emit_scalar(mlir::Operation* op);
  bool emit_view(mlir::Operation* op);
  void emit_assert(tile::AssertOp op);
  // control.cpp
  void emit_for(mlir::scf::ForOp op);
  void emit_while(mlir::scf::WhileOp op);
  void emit_if(mlir::scf::IfOp op);
  void preload(mlir::Operation* loop);
  void preload(mlir::Value v);
  void assign(llvm::ArrayRef<mlir::Value> values, llvm::ArrayRef<Buffer> targets, llvm::ArrayRef<mlir::Value> carried);
  bool reads_moved(mlir::Value v, llvm::ArrayRef<mlir::Value> carried, bool identity, llvm::DenseMap<mlir::Value, bool>& seen);
  // effects.cpp
  void emit_store(tile::StoreOp op);
  void emit_scatter(tile::ScatterOp op);
  void emit_atomic(mlir::Operation* op);
  void emit_fence(tile::FenceOp op);
  void emit_cat(tile::CatOp op);
  void emit_insert(tile::InsertOp op);
  struct Lane {
    llvm::Value* pointer;
    llvm::Value* ok;  ///< null = always
  };
  Lane index_lane(const ViewValue& view, llvm::ArrayRef<Vec> indices, Vec mask, unsigned lane, bool inbounds);
  Vec atomic_lane(mlir::Operation* op, const ViewValue& view, llvm::Value* pointer, Vec value, Vec expected);
  llvm::Value* cas(llvm::Value* pointer, llvm::Value* expected, llvm::Value* desired, llvm::AtomicOrdering order,
                   llvm::SyncScope::ID scope);
  // pull.cpp
  void visit(mlir::Value v, bool identity, Sight& sight);
  Vec compute(mlir::Value v, const Pos& pos);
  Vec compute_iota(tile::IotaOp op, const Pos& pos);
  Vec compute_gather(tile::GatherOp op, unsigned lanes, const Pos* pos);
  Vec compute_take(tile::TakeOp op, const Pos& pos);
  Vec compute_constant(tile::ConstantOp op, const Pos& pos);
  void copy_part(mlir::Value source, const Buffer& target, llvm::ArrayRef<std::int64_t> target_shape,
                 llvm::ArrayRef<std::int64_t> offsets);
  // stage.cpp
  static constexpr std::int64_t kNoAlias = INT64_MIN;  ///< an alias class of memory that may be anything
  Access either(const Access& a, const Buffer& scratch, llvm::ArrayRef<std::int64_t> shape, llvm::BasicBlock* before,
                llvm::BasicBlock* edge);
  void staged(llvm::ArrayRef<mlir::Operation*> loads, llvm::ArrayRef<const Access*> extra,
              llvm::ArrayRef<std::int64_t> extra_shape, llvm::function_ref<void()> emit);
  Vec padding_of(tile::LoadOp op);
  // memory.cpp
  bool masked(const Access& access);
  Vec load_lanes(const Access& access, const Coords& coords, Vec padding, bool check);
  Vec load_masked(const Access& access, const Coords& coords, llvm::Value* pointer, Vec padding, llvm::Align align);
  llvm::Value* lane_mask(const Access& access, const Coords& coords);
  llvm::Value* uniform_inside(const Access& access, const Coords& coords, bool with_lane_axis);
  llvm::Value* chunk_pointer(const Access& access, const Coords& coords);
  struct LanePointer {
    llvm::Value* pointer;
    llvm::Value* ok;  ///< null = fine
  };
  LanePointer lane_pointer(const Access& access, const Coords& coords, unsigned lane, bool check);
  llvm::Align chunk_align(const Access& access, const Coords& coords);
  llvm::Type* element_struct(DType dtype);
  // elementwise.cpp, casts.cpp
  Vec unary_integer(ir::Unary kind, Vec v, DType dtype);
  Vec unary_float(ir::Unary kind, Vec v, DType dtype, mlir::Operation* op);
  Vec unary_complex(ir::Unary kind, Vec v, DType dtype, mlir::Operation* op);
  Vec binary_integer(ir::Binary kind, Vec a, Vec b, DType dtype, mlir::Operation* op);
  Vec binary_float(ir::Binary kind, Vec a, Vec b, DType dtype, mlir::Operation* op);
  Vec binary_complex(ir::Binary kind, Vec a, Vec b, DType dtype, mlir::Operation* op);
  llvm::Value* integer_power(llvm::Value* base, llvm::Value* exponent, bool is_signed);
  llvm::Value* integer_divide(ir::Binary kind, llvm::Value* a, llvm::Value* b, bool is_signed);
  llvm::Value* widen(llvm::Value* v, DType dtype);   ///< float16 and bfloat16 bits to f32; others as they are
  llvm::Value* narrow(llvm::Value* v, DType dtype);  ///< f32 to their bits, rounded to nearest even
  llvm::Value* to_odd(llvm::Value* f64);             ///< f64 to f32, rounded to odd
  llvm::Value* float_to_integer(llvm::Value* v, DType to, ir::Cast mode);
  llvm::Value* number_to_float(llvm::Value* v, DType from, DType to);  ///< from float or integer, rounded once
  llvm::Value* integer_to_integer(llvm::Value* v, DType from, DType to, ir::Cast mode);
  void flag_zero(mlir::Operation* op, Vec divisor, const Pos* pos);
  void report_lanes(llvm::Value* bad, unsigned where, const Pos& pos);

  std::vector<std::unique_ptr<Memo>> scopes_;
  llvm::DenseMap<mlir::Value, Vec> scalars_;
  llvm::DenseMap<mlir::Value, Buffer> buffers_;
  llvm::DenseMap<mlir::Value, Buffer> storage_;  ///< buffers made for a value, whether available here or not
  llvm::DenseSet<mlir::Value> forced_;           ///< lazy values that someone asked to materialise
  llvm::DenseMap<mlir::Value, ViewValue> views_;
  llvm::DenseMap<mlir::Operation*, Access> accesses_;
  llvm::DenseMap<mlir::Operation*, Buffer> constants_;
  std::map<std::int64_t, unsigned> view_scopes_;
  unsigned scope_count_ = 0;
  std::vector<std::pair<llvm::Instruction*, unsigned>> tagged_;
  void attach_scopes();
  std::map<const char*, llvm::GlobalVariable*> tables_;
  llvm::DenseMap<mlir::Operation*, unsigned> sites_;
  Status status_;
};

}  // namespace epi::compiler
