// Random small programs, interpreter against compiled code, bit for bit. A failure prints the seed and the program;
// EPI_FUZZ=N runs N seeds, EPI_FUZZ_SEED=S starts at S.
#include "harness.h"

#include <algorithm>
#include <cstdlib>

namespace epi::test {
namespace {

using ir::Binary;
using ir::Builder;
using ir::Combine;
using ir::Unary;
using ir::Value;
using ir::Values;
using Shape = std::vector<std::int64_t>;

class Generator {
 public:
  explicit Generator(unsigned seed) : rng_(seed) {
    const DType kDTypes[] = {DType::kInt32, DType::kInt64, DType::kUInt8, DType::kFloat16, DType::kBFloat16, DType::kFloat32, DType::kFloat64, DType::kComplex64};
    const Shape kShapes[] = {{64}, {8, 16}, {5, 12}, {33}, {4, 8, 3}, {1, 40}, {16, 1}, {128}};
    const int arrays = 2 + pick(2);
    std::vector<ir::ArgSpec> specs;
    for (int i = 0; i < arrays; ++i) {
      shapes_.push_back(kShapes[pick(8)]);
      Shape memory = shapes_.back();
      for (std::int64_t& e : memory) e += pick(3) - 1 + (e == 1);  // tiles may hang over an edge
      args.push_back(random_array(kDTypes[pick(8)], memory, seed * 8 + static_cast<unsigned>(i), pick(2) == 0));
      specs.push_back(spec(args.back(), pick(3) == 0 ? 0 : i));
    }
    for (int i = 0; i < 3; ++i) {
      out_shapes_.push_back(kShapes[pick(8)]);
      args.push_back(zeros(kDTypes[pick(8)], out_shapes_.back()));
      specs.push_back(spec(args.back(), arrays + i));
    }
    b_ = std::make_unique<Builder>("fuzz", specs);
    loaded_ = arrays;
  }

  ir::Module make() {
    Builder& b = *b_;
    for (int i = 0; i < loaded_; ++i) load(i);
    const int steps = 4 + pick(12);
    for (int s = 0; s < steps; ++s) step(true);
    for (std::size_t i = 0; i < out_shapes_.size(); ++i) {
      const auto arg = static_cast<std::size_t>(loaded_) + i;
      Value v = convert(fit(any(), out_shapes_[i]), args[arg].dtype);
      b.store(b.args()[arg], offsets(out_shapes_[i].size(), 0), v);
    }
    EXPECT_TRUE(b.status().ok()) << b.status().message();
    return finished(b);
  }
  std::vector<Arg> args;

 private:
  int pick(int n) { return static_cast<int>(rng_() % static_cast<unsigned>(n)); }
  Value i32(std::int64_t v) { return b_->constant(ir::Scalar::of_int(DType::kInt32, v)); }
  Values offsets(std::size_t rank, int spread) {
    Values out;
    for (std::size_t i = 0; i < rank; ++i) out.push_back(i32(spread ? pick(2 * spread + 1) - spread : 0));
    return out;
  }
  Value any() { return pool_[pick(3) ? pool_.size() - 1 - static_cast<std::size_t>(pick(static_cast<int>(std::min<std::size_t>(4, pool_.size())))) : static_cast<std::size_t>(pick(static_cast<int>(pool_.size())))]; }
  DType dtype(Value v) { return b_->type(v).dtype; }
  Shape shape(Value v) { return b_->type(v).shape; }
  void load(int i) { pool_.push_back(b_->load(b_->args()[static_cast<std::size_t>(i)], offsets(shapes_[static_cast<std::size_t>(i)].size(), pick(3)), shapes_[static_cast<std::size_t>(i)])); }

  Value convert(Value v, DType to) {
    if (dtype(v) == to) return v;
    return b_->cast(v, to, pick(2) ? ir::Cast::k_saturate : ir::Cast::k_wrap);
  }
  static std::int64_t count(const Shape& s) {
    std::int64_t n = 1;
    for (std::int64_t e : s) n *= e;
    return n;
  }
  /// A tile of the wanted shape made from v: broadcast, reshape, extract, or a fold and a broadcast.
  Value fit(Value v, const Shape& want) {
    Shape have = shape(v);
    if (have == want) return v;
    if (count(have) == count(want)) return b_->reshape(v, want);
    if (have.size() == want.size()) {
      bool grows = true, cuts = true;
      for (std::size_t i = 0; i < have.size(); ++i) {
        grows = grows && (have[i] == want[i] || have[i] == 1);
        cuts = cuts && have[i] >= want[i];
      }
      if (grows) return b_->broadcast(v, want);
      if (cuts) {
        Shape at;
        for (std::size_t i = 0; i < have.size(); ++i) at.push_back(pick(static_cast<int>(have[i] - want[i]) + 1));
        return b_->extract(v, at, want);
      }
    }
    Value flat = b_->reshape(v, Shape{count(have)});
    if (count(have) > count(want) && pick(2))
      return b_->reshape(b_->extract(flat, Shape{pick(static_cast<int>(count(have) - count(want)) + 1)}, Shape{count(want)}), want);
    return b_->broadcast(fold(flat, 0), want);
  }
  Value fold(Value v, int axis) {
    const DType d = dtype(v);
    Combine k = d == DType::kBool ? Combine::k_bitor : is_complex(d) ? Combine::k_add : pick(2) ? Combine::k_add : pick(2) ? Combine::k_maximum : Combine::k_minimum;
    const Values one = {v};
    return b_->reduce(k, one, axis, std::int64_t{1} << pick(7))[0];
  }
  Value unary(Value v) {
    static const Unary kFloat[] = {Unary::k_neg, Unary::k_abs, Unary::k_exp, Unary::k_log, Unary::k_sqrt, Unary::k_sin, Unary::k_tanh, Unary::k_floor, Unary::k_sign, Unary::k_rint};
    const DType d = dtype(v);
    if (is_float(d)) return b_->unary(kFloat[pick(10)], v);
    if (is_complex(d)) return b_->unary(pick(2) ? Unary::k_conj : Unary::k_neg, v);
    if (d == DType::kBool) return b_->unary(Unary::k_bitnot, v);
    return b_->unary(pick(2) ? Unary::k_neg : Unary::k_bitnot, v);
  }
  Value binary(Value x, Value y) {
    static const Binary kFloat[] = {Binary::k_add, Binary::k_sub, Binary::k_mul, Binary::k_div, Binary::k_minimum, Binary::k_maximum, Binary::k_mod, Binary::k_rem};
    static const Binary kInt[] = {Binary::k_add, Binary::k_sub, Binary::k_mul, Binary::k_floordiv, Binary::k_mod, Binary::k_minimum, Binary::k_bitxor, Binary::k_shl, Binary::k_shr};
    y = convert(fit(y, shape(x)), dtype(x));
    const DType d = dtype(x);
    if (d == DType::kBool) return b_->binary(pick(2) ? Binary::k_bitand : Binary::k_bitxor, x, y);
    if (is_complex(d)) return b_->binary(static_cast<Binary>(pick(4)), x, y);
    return b_->binary(is_float(d) ? kFloat[pick(8)] : kInt[pick(9)], x, y);
  }
  void step(bool nest) {
    Builder& b = *b_;
    Value x = any();
    const Shape s = shape(x);
    const int axis = pick(static_cast<int>(s.size()));
    switch (pick(nest ? 15 : 9)) {
      case 0: pool_.push_back(unary(x)); break;
      case 1:
      case 2:
      case 3: pool_.push_back(binary(x, any())); break;
      case 4: pool_.push_back(convert(x, pick(2) ? DType::kFloat32 : DType::kInt32)); break;
      case 5: {
        Value y = convert(fit(any(), s), dtype(x));
        Value c = is_complex(dtype(x)) ? b.compare(ir::Compare::k_ne, x, y) : b.compare(static_cast<ir::Compare>(pick(6)), x, y);
        pool_.push_back(b.select(c, x, y));
        break;
      }
      case 6: {
        Value f = fold(x, axis);
        if (s.size() == 1) {
          pool_.push_back(b.broadcast(f, s));
        } else {
          Shape kept = s;
          kept[static_cast<std::size_t>(axis)] = 1;
          pool_.push_back(b.reshape(f, kept));
          pool_.push_back(binary(x, pool_.back()));
        }
        break;
      }
      case 7: {
        Shape perm;
        for (std::size_t i = 0; i < s.size(); ++i) perm.push_back(static_cast<std::int64_t>(i));
        std::shuffle(perm.begin(), perm.end(), rng_);
        pool_.push_back(b.permute(x, perm));
        break;
      }
      case 8: {
        Value i = b.iota(DType::kInt32, s, axis);
        Value shifted = b.binary(Binary::k_sub, b.binary(Binary::k_mul, i, i32(pick(3) + 1)), i32(pick(3)));
        pool_.push_back(b.take(x, shifted, axis));
        break;
      }
      case 9: {
        const Values one = {x};
        pool_.push_back(b.scan(dtype(x) == DType::kBool ? Combine::k_bitxor : Combine::k_add, one, axis, pick(2), pick(6))[0]);
        break;
      }
      case 10: {
        const Values two = {x, unary(x)};
        if (shape(two[1]) == s && dtype(two[1]) == dtype(x)) pool_.push_back(b.cat(two, axis));
        break;
      }
      case 11: loop(x); break;
      case 12: branch(x); break;
      case 13: {  // store to an input that others may still be waiting to read, then load it again
        const int i = pick(loaded_);
        const auto a = static_cast<std::size_t>(i);
        Value v = convert(fit(x, shapes_[a]), args[a].dtype);
        b.store(b.args()[a], offsets(shapes_[a].size(), 1), v);
        load(i);
        break;
      }
      default: {
        Shape part = s, at;
        for (std::int64_t& e : part) e = 1 + pick(static_cast<int>(e));
        for (std::size_t i = 0; i < s.size(); ++i) at.push_back(pick(static_cast<int>(s[i] - part[i]) + 1));
        pool_.push_back(b.insert(unary(b.extract(x, at, part)), x, at));
      }
    }
  }
  void loop(Value x) {
    Builder& b = *b_;
    Value y = any();
    auto l = b.begin_for(i32(0), i32(pick(4)), i32(1), Values{x, y});
    const std::size_t mark = pool_.size();
    pool_.push_back(l.carried[0]);
    pool_.push_back(l.carried[1]);
    for (int s = 1 + pick(4); s > 0; --s) step(false);
    Value nx = convert(fit(any(), shape(x)), dtype(x));
    Value ny = convert(fit(any(), shape(y)), dtype(y));
    pool_.resize(mark);
    const Values out = b.end_for(Values{nx, ny});
    pool_.insert(pool_.end(), out.begin(), out.end());
  }
  void branch(Value x) {
    Builder& b = *b_;
    b.begin_if(b.compare(ir::Compare::k_eq, b.program_id(0), i32(pick(2))));
    const std::size_t mark = pool_.size();
    for (int s = 1 + pick(2); s > 0; --s) step(false);
    const Values yes = {convert(fit(any(), shape(x)), dtype(x))};
    pool_.resize(mark);
    b.begin_else();
    for (int s = 1 + pick(2); s > 0; --s) step(false);
    const Values no = {convert(fit(any(), shape(x)), dtype(x))};
    pool_.resize(mark);
    pool_.push_back(b.end_if(yes, no)[0]);
  }

  std::mt19937_64 rng_;
  std::unique_ptr<Builder> b_;
  std::vector<Value> pool_;
  std::vector<Shape> shapes_, out_shapes_;
  int loaded_ = 0;
};

TEST(Fuzz, RandomProgramsGiveTheInterpretersBits) {
  const char* runs = std::getenv("EPI_FUZZ");
  const char* first = std::getenv("EPI_FUZZ_SEED");
  const unsigned from = first ? static_cast<unsigned>(std::atoi(first)) : 1;
  const unsigned count = runs ? static_cast<unsigned>(std::atoi(runs)) : 60;
  for (unsigned seed = from; seed < from + count; ++seed) {
    SCOPED_TRACE("EPI_FUZZ=1 EPI_FUZZ_SEED=" + std::to_string(seed));
    Generator g(seed);
    const ir::Module m = g.make();
    Options o;
    o.archs = {seed % 2 ? "x86-64-v3" : ""};
    expect_same(m, g.args, {1}, o);
    if (testing::Test::HasFailure()) return;
  }
}

}  // namespace
}  // namespace epi::test
