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
#include <vector>

#include "epi/base/status.h"
#include "epi/compiler/analysis.h"
#include "epi/compiler/values.h"
#include "epi/device/kernel_abi.h"
#include "epi/ir/dialect.h"
#include "epi/ir/math/policy.h"

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
  virtual unsigned view_address_space() const { return 0; }

  // -- chunks
  /// Lanes of a chunk in a loop over `count` elements whose widest register type is `widest` bytes. A power of two.
  virtual unsigned lanes_for(unsigned widest, std::int64_t count) = 0;
  /// Runs `body` for chunks that cover the tile exactly once; lanes is lanes_for's answer, or fewer where it does not
  /// divide. `body` may be emitted several times (unrolled, and again for a tail), each in its own scope.
  virtual void for_chunks(llvm::ArrayRef<std::int64_t> shape, unsigned lanes, Body body) = 0;
  /// Code with an effect for the whole program (scalar scatter, print): emitted so that it runs once.
  virtual void once(llvm::function_ref<void()> body) { body(); }
  /// Same with a scalar result that every thread gets.
  virtual Vec once_value(mlir::Type type, llvm::function_ref<Vec()> body) {
    (void)type;
    return body();
  }

  // -- scratch
  virtual Buffer make_buffer(DType dtype, std::int64_t count) = 0;
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
  /// Whether an op that the core would emit itself is taken by the target (a GEMM loop on tensor cores, ...).
  virtual bool emit_special(mlir::Operation* op) {
    (void)op;
    return false;
  }
  /// float16 from f64 must round once; x86 has no instruction for it.
  virtual bool native_half_from_double() const { return false; }

  // ================================================================ what a target may call
  // -- pulling
  /// The lanes of tile (or scalar: splat) `v` at `pos`. Memoised in the current scope.
  Vec pull(mlir::Value v, const Pos& pos);
  /// A scalar of the program.
  Vec scalar(mlir::Value v);
  void set_scalar(mlir::Value v, Vec value) { scalars_[v] = value; }
  /// Makes everything that pulling `roots` needs available, but for values that the coming loop will write itself
  /// because it walks them at identity positions. Call before a loop over chunks; after it call `walked`.
  struct Walk {
    llvm::SmallVector<mlir::Value, 4> written;   ///< stored values that the loop computes and must write
    llvm::SmallVector<mlir::Operation*, 8> accesses;  ///< loads pulled inside
    unsigned widest = 1;                         ///< register bytes of the widest dtype pulled
  };
  Walk prepare(llvm::ArrayRef<mlir::Value> roots, bool identity);
  void walked(const Walk& walk);
  /// In a chunk of a loop prepared with identity = true: writes the chunk's stored values.
  void write_walked(const Walk& walk, const Pos& pos);
  /// A whole root: prepares, loops over chunks (twice where accesses may leave their views: all inside, and checked),
  /// and calls body(pos) in each. `extra` are the root's own accesses.
  void for_each(llvm::ArrayRef<mlir::Value> roots, llvm::ArrayRef<std::int64_t> shape, Body body,
                llvm::ArrayRef<const Access*> extra = {});
  /// Emits `fast` where `inside` holds and `checked` otherwise (one of them only where it is constant).
  void versioned(llvm::ArrayRef<mlir::Operation*> accesses, llvm::ArrayRef<const Access*> extra,
                 llvm::function_ref<void()> emit);

  // -- results of roots
  /// Puts `v` in a new buffer that the caller fills; later pulls read it.
  Buffer result_buffer(mlir::Value v);
  void bind_buffer(mlir::Value v, const Buffer& buffer) { buffers_[v] = buffer; }
  Vec read(const Buffer& buffer, const Pos& pos);
  void write(const Buffer& buffer, const Pos& pos, Vec value);
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
  /// Coordinates of the lanes in `shape`: the last axis may run over lanes (then `contiguous`), others are uniform;
  /// or all are per lane.
  struct Coords {
    llvm::SmallVector<llvm::Value*, 4> axis;  ///< index type, or <lanes x i32> each where per_lane
    bool per_lane = false;
  };
  Coords coordinates(const Pos& pos, llvm::ArrayRef<std::int64_t> shape);
  /// Linear position (scalar or lanes, as the coordinates are) in a tile of `shape`; extents of 1 ignore theirs.
  llvm::Value* linearise(const Coords& coords, llvm::ArrayRef<std::int64_t> shape);

  // -- arithmetic on lanes; `op` is for errors
  Vec unary(ir::Unary kind, Vec v, DType dtype, mlir::Operation* op);
  Vec binary(ir::Binary kind, Vec a, Vec b, DType dtype, mlir::Operation* op);
  Vec compare(ir::Compare kind, Vec a, Vec b, DType dtype, mlir::Operation* op);
  Vec cast(Vec v, DType from, DType to, ir::Cast mode, mlir::Operation* op);
  Vec bitcast(Vec v, DType from, DType to);
  Vec select(llvm::Value* mask, Vec a, Vec b);
  /// Folds left and right tuples with a reduce's, scan's or lookback's combiner.
  llvm::SmallVector<Vec, 2> combine(ir::Combine kind, mlir::Region& region, llvm::ArrayRef<Vec> left,
                                    llvm::ArrayRef<Vec> right, llvm::ArrayRef<DType> dtypes, mlir::Operation* op);
  Vec constant(mlir::Attribute value, DType dtype, unsigned lanes);
  Vec zero(DType dtype, unsigned lanes);
  /// The identity of a combiner (add 0, minimum the largest, ...).
  Vec identity(ir::Combine kind, DType dtype, unsigned lanes);
  Vec splat(Vec v, unsigned lanes);
  Vec shuffle(Vec a, Vec b, llvm::ArrayRef<int> mask);
  Vec extract(Vec v, unsigned lane);  ///< a scalar
  Vec insert(Vec v, Vec scalar, unsigned lane);
  Vec phi_vec(Vec like);

  // -- types and memory
  llvm::Type* register_type(DType dtype, unsigned lanes);  ///< of Vec::re (and im)
  llvm::Type* memory_type(DType dtype);                    ///< one element (complex: its component)
  Vec load_memory(DType dtype, llvm::Value* pointer, unsigned lanes, llvm::Align align, unsigned alias_scope);
  void store_memory(DType dtype, Vec v, llvm::Value* pointer, llvm::Align align, unsigned alias_scope);
  ViewValue view(mlir::Value v);
  Access access(mlir::Value view, mlir::ValueRange offsets, llvm::ArrayRef<std::int64_t> tile, bool inbounds);
  Vec load_chunk(const Access& access, llvm::ArrayRef<std::int64_t> shape, const Pos& pos, Vec padding);
  void store_chunk(const Access& access, llvm::ArrayRef<std::int64_t> shape, const Pos& pos, Vec value);
  /// Alias scope of an alias class or of a new buffer: pass it to load_memory and store_memory.
  unsigned view_scope(std::int64_t alias_class);
  unsigned buffer_scope();
  void tag(llvm::Instruction* access, unsigned scope);

  // -- control
  struct Loop {
    llvm::BasicBlock* header;
    llvm::BasicBlock* exit;
    llvm::PHINode* index;
    llvm::Value* step;
    llvm::SmallVector<llvm::PHINode*, 4> carried;
    llvm::BasicBlock* preheader;
  };
  /// for (index = from; index < to; index += step): at least one trip where `known_trip`. Pushes a scope.
  Loop begin_loop(llvm::Value* from, llvm::Value* to, llvm::Value* step, llvm::ArrayRef<llvm::Value*> initial = {},
                  bool known_trip = true);
  void end_loop(Loop& loop, llvm::Value* to, llvm::ArrayRef<llvm::Value*> next = {});
  void if_then(llvm::Value* condition, llvm::function_ref<void()> then);
  /// Emits the ops of a block in order (roots at once, scalars at once, tiles when pulled).
  void emit_block(mlir::Block& block);

  // -- errors
  Vec fail(mlir::Operation* op, const std::string& message);
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
  void layout_slots();
  void emit_op(mlir::Operation* op);
  void emit_for(mlir::scf::ForOp op);
  void emit_while(mlir::scf::WhileOp op);
  void emit_if(mlir::scf::IfOp op);
  void emit_store(tile::StoreOp op);
  void emit_scatter(tile::ScatterOp op);
  void emit_atomic(mlir::Operation* op);
  void emit_assert(tile::AssertOp op);
  void emit_fence(tile::FenceOp op);
  void emit_take(tile::TakeOp op);
  void emit_scalar(mlir::Operation* op);
  void visit(mlir::Value v, bool identity, Walk& walk, llvm::DenseMap<mlir::Value, bool>& seen);
  Vec compute(mlir::Value v, const Pos& pos);

  std::vector<std::unique_ptr<Memo>> scopes_;
  llvm::DenseMap<mlir::Value, Vec> scalars_;
  llvm::DenseMap<mlir::Value, Buffer> buffers_;
  llvm::DenseMap<mlir::Value, Buffer> storage_;  ///< buffers made for a value, whether available here or not
  llvm::DenseMap<mlir::Value, ViewValue> views_;
  llvm::DenseMap<mlir::Operation*, Access> accesses_;
  std::map<std::int64_t, unsigned> view_scopes_;
  std::vector<llvm::MDNode*> scopes_md_;
  std::map<const char*, llvm::GlobalVariable*> tables_;
  Status status_;
};

}  // namespace epi::compiler
