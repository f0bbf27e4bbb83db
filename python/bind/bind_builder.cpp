// ir/builder.h: Module and Builder. Kinds are passed by their index in kinds.def (UNARY, BINARY, ... map names to it).
// The front end records a program in Python and replays it here; errors surface at finish().
#include <nanobind/stl/complex.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <exception>

#include "bind.h"
#include "epi/ir/builder.h"

namespace epi::bind {
namespace {

using ir::Builder;
using ir::Scalar;
using ir::Shape;
using ir::Value;
using ir::Values;

nb::dict kinds_of(std::initializer_list<const char*> names) {
  nb::dict out;
  int i = 0;
  for (const char* name : names) out[name] = i++;
  return out;
}

void bind_kinds(nb::module_& m) {
#define EPI_UNARY(n, t)
#define EPI_BINARY(n, t)
#define EPI_COMPARE(n)
#define EPI_COMBINE(n)
#define EPI_CAST(n)
#define EPI_ATOMIC(n)
#define EPI_ORDER(n)
#define EPI_SCOPE(n)
  m.attr("UNARY") = kinds_of({
#undef EPI_UNARY
#define EPI_UNARY(n, t) #n,
#include "epi/ir/kinds.def"
#undef EPI_UNARY
#define EPI_UNARY(n, t)
  });
  m.attr("BINARY") = kinds_of({
#undef EPI_BINARY
#define EPI_BINARY(n, t) #n,
#include "epi/ir/kinds.def"
#undef EPI_BINARY
#define EPI_BINARY(n, t)
  });
  m.attr("COMPARE") = kinds_of({
#undef EPI_COMPARE
#define EPI_COMPARE(n) #n,
#include "epi/ir/kinds.def"
#undef EPI_COMPARE
#define EPI_COMPARE(n)
  });
  m.attr("COMBINE") = kinds_of({
#undef EPI_COMBINE
#define EPI_COMBINE(n) #n,
#include "epi/ir/kinds.def"
#undef EPI_COMBINE
#define EPI_COMBINE(n)
  });
  m.attr("CAST") = kinds_of({
#undef EPI_CAST
#define EPI_CAST(n) #n,
#include "epi/ir/kinds.def"
#undef EPI_CAST
#define EPI_CAST(n)
  });
  m.attr("ATOMIC") = kinds_of({
#undef EPI_ATOMIC
#define EPI_ATOMIC(n) #n,
#include "epi/ir/kinds.def"
#undef EPI_ATOMIC
#define EPI_ATOMIC(n)
  });
  m.attr("ORDER") = kinds_of({
#undef EPI_ORDER
#define EPI_ORDER(n) #n,
#include "epi/ir/kinds.def"
#undef EPI_ORDER
#define EPI_ORDER(n)
  });
  m.attr("SCOPE") = kinds_of({
#undef EPI_SCOPE
#define EPI_SCOPE(n) #n,
#include "epi/ir/kinds.def"
#undef EPI_SCOPE
#define EPI_SCOPE(n)
  });
}

DType dtype_of(int code) { return static_cast<DType>(code); }

/// A Python region for Builder::reduce and its like. An exception waits in `failure` until C++ has been left.
Builder::Region region_of(const nb::object& callable, std::exception_ptr& failure) {
  if (callable.is_none()) return {};
  return [&callable, &failure](Builder& b, const Values& left, const Values& right) -> Values {
    if (failure) return {};
    try {
      return nb::cast<Values>(callable(nb::cast(&b, nb::rv_policy::reference), left, right));
    } catch (...) {
      failure = std::current_exception();
      return {};
    }
  };
}

Values reduce(Builder& b, int kind, const Values& tiles, int axis, std::int64_t lanes, const nb::object& region) {
  std::exception_ptr failure;
  Values out = b.reduce(static_cast<ir::Combine>(kind), tiles, axis, lanes, region_of(region, failure));
  if (failure) std::rethrow_exception(failure);
  return out;
}

Values scan(Builder& b, int kind, const Values& tiles, int axis, bool reverse, std::int64_t segment,
            const nb::object& region) {
  std::exception_ptr failure;
  Values out = b.scan(static_cast<ir::Combine>(kind), tiles, axis, reverse, segment, region_of(region, failure));
  if (failure) std::rethrow_exception(failure);
  return out;
}

Values lookback(Builder& b, int kind, Value state, const Values& aggregates, const std::vector<Scalar>& identities,
                const nb::object& region) {
  std::exception_ptr failure;
  Values out = b.lookback(static_cast<ir::Combine>(kind), state, aggregates, identities, region_of(region, failure));
  if (failure) std::rethrow_exception(failure);
  return out;
}

const Scalar* pointer(const std::optional<Scalar>& s) { return s ? &*s : nullptr; }

void bind_types(nb::module_& m) {
  nb::class_<Value>(m, "Value");
  nb::class_<Scalar>(m, "Scalar")
      .def_static("of_int", [](int d, std::int64_t v) { return Scalar::of_int(dtype_of(d), v); })
      .def_static("of_float", [](int d, double v) { return Scalar::of_float(dtype_of(d), v); })
      .def_static("of_complex", [](int d, std::complex<double> v) { return Scalar{dtype_of(d), 0, v}; });
  nb::class_<ir::ArgSpec>(m, "ArgSpec")
      .def_static("scalar",
                  [](int dtype, std::string name) {
                    ir::ArgSpec a;
                    a.dtype = dtype_of(dtype);
                    a.name = std::move(name);
                    return a;
                  })
      .def_static("array",
                  [](int dtype, Shape extents, Shape strides, Shape divisors, std::int64_t align, std::int64_t alias,
                     std::string name) {
                    ir::ArgSpec a;
                    a.is_view = true;
                    a.view = {
                        dtype_of(dtype), std::move(extents), std::move(strides), std::move(divisors), align, alias};
                    a.name = std::move(name);
                    return a;
                  })
      .def_ro("is_view", &ir::ArgSpec::is_view)
      .def_ro("name", &ir::ArgSpec::name)
      .def_prop_ro("dtype", [](const ir::ArgSpec& a) { return static_cast<int>(a.is_view ? a.view.dtype : a.dtype); })
      .def_prop_rw(
          "extents", [](const ir::ArgSpec& a) { return a.view.extents; },
          [](ir::ArgSpec& a, Shape s) { a.view.extents = std::move(s); })
      .def_prop_rw(
          "strides", [](const ir::ArgSpec& a) { return a.view.strides; },
          [](ir::ArgSpec& a, Shape s) { a.view.strides = std::move(s); });
  m.attr("DYNAMIC") = ir::kDynamic;
  nb::class_<ir::Module>(m, "Module")
      .def("print", &ir::Module::print, nb::arg("locations") = false)
      .def("verify", [](const ir::Module& module) { check(module.verify()); })
      .def_static("parse", [](const std::string& text) { return take(ir::Module::parse(text)); });
}

void bind_memory(nb::class_<Builder>& c) {
  c.def("program_id", &Builder::program_id)
      .def("num_programs", &Builder::num_programs)
      .def("dim", &Builder::dim)
      .def("stride", &Builder::stride)
      .def("slice", &Builder::slice)
      .def("permute_view", [](Builder& b, Value v, const Shape& perm) { return b.permute_view(v, perm); })
      .def(
          "load",
          [](Builder& b, Value view, const Values& offsets, const Shape& shape, const std::optional<Scalar>& padding,
             bool inbounds) { return b.load(view, offsets, shape, pointer(padding), inbounds); },
          nb::arg(), nb::arg(), nb::arg(), nb::arg().none(), nb::arg())
      .def("store", [](Builder& b, Value view, const Values& offsets, Value tile,
                       bool inbounds) { b.store(view, offsets, tile, inbounds); })
      .def(
          "gather",
          [](Builder& b, Value view, const Values& indices, std::optional<Value> mask,
             const std::optional<Scalar>& padding,
             bool inbounds) { return b.gather(view, indices, mask.value_or(Value{}), pointer(padding), inbounds); },
          nb::arg(), nb::arg(), nb::arg().none(), nb::arg().none(), nb::arg())
      .def(
          "scatter",
          [](Builder& b, Value view, const Values& indices, Value value, std::optional<Value> mask, bool inbounds) {
            b.scatter(view, indices, value, mask.value_or(Value{}), inbounds);
          },
          nb::arg(), nb::arg(), nb::arg(), nb::arg().none(), nb::arg())
      .def(
          "atomic_rmw",
          [](Builder& b, int kind, Value view, const Values& indices, Value value, std::optional<Value> mask, int order,
             int scope) {
            return b.atomic_rmw(static_cast<ir::Atomic>(kind), view, indices, value, mask.value_or(Value{}),
                                static_cast<ir::Order>(order), static_cast<ir::Scope>(scope));
          },
          nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg().none(), nb::arg(), nb::arg())
      .def(
          "atomic_cas",
          [](Builder& b, Value view, const Values& indices, Value expected, Value desired, std::optional<Value> mask,
             int order, int scope) {
            return b.atomic_cas(view, indices, expected, desired, mask.value_or(Value{}), static_cast<ir::Order>(order),
                                static_cast<ir::Scope>(scope));
          },
          nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg().none(), nb::arg(), nb::arg())
      .def("fence", [](Builder& b, int order, int scope) {
        b.fence(static_cast<ir::Order>(order), static_cast<ir::Scope>(scope));
      });
}

void bind_shape(nb::class_<Builder>& c) {
  c.def("constant", &Builder::constant)
      .def("full", [](Builder& b, const Scalar& value, const Shape& shape) { return b.full(value, shape); })
      .def("iota",
           [](Builder& b, int dtype, const Shape& shape, int axis) { return b.iota(dtype_of(dtype), shape, axis); })
      .def("broadcast", [](Builder& b, Value v, const Shape& shape) { return b.broadcast(v, shape); })
      .def("reshape", [](Builder& b, Value v, const Shape& shape) { return b.reshape(v, shape); })
      .def("permute", [](Builder& b, Value v, const Shape& perm) { return b.permute(v, perm); })
      .def("cat", [](Builder& b, const Values& tiles, int axis) { return b.cat(tiles, axis); })
      .def("extract",
           [](Builder& b, Value v, const Shape& offsets, const Shape& shape) { return b.extract(v, offsets, shape); })
      .def("insert", [](Builder& b, Value s, Value t, const Shape& offsets) { return b.insert(s, t, offsets); });
}

void bind_arithmetic(nb::class_<Builder>& c) {
  c.def("unary",
        [](Builder& b, int kind, Value v, bool approx) { return b.unary(static_cast<ir::Unary>(kind), v, approx); })
      .def("binary", [](Builder& b, int kind, Value x, Value y,
                        bool flag_zero) { return b.binary(static_cast<ir::Binary>(kind), x, y, flag_zero); })
      .def("fma", &Builder::fma)
      .def("compare",
           [](Builder& b, int kind, Value x, Value y) { return b.compare(static_cast<ir::Compare>(kind), x, y); })
      .def("select", &Builder::select)
      .def("cast",
           [](Builder& b, Value v, int to, int mode) { return b.cast(v, dtype_of(to), static_cast<ir::Cast>(mode)); })
      .def("bitcast", [](Builder& b, Value v, int to) { return b.bitcast(v, dtype_of(to)); })
      .def("reduce", &reduce, nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg().none())
      .def("scan", &scan, nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg().none())
      .def("lookback", &lookback, nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg().none())
      .def("take", &Builder::take)
      .def("rank",
           [](Builder& b, Value digits, std::int64_t bins) {
             const Builder::Ranked r = b.rank(digits, bins);
             return Values{r.ranks, r.counts};
           })
      .def("mma", &Builder::mma);
}

void bind_control(nb::class_<Builder>& c) {
  c.def("begin_for",
        [](Builder& b, Value start, Value stop, Value step, const Values& initial) {
          Builder::Loop loop = b.begin_for(start, stop, step, initial);
          return nb::make_tuple(loop.index, loop.carried);
        })
      .def("end_for", [](Builder& b, const Values& carried) { return b.end_for(carried); })
      .def("begin_while", [](Builder& b, const Values& initial) { return b.begin_while(initial); })
      .def("while_body", &Builder::while_body)
      .def("end_while", [](Builder& b, const Values& carried) { return b.end_while(carried); })
      .def("begin_if", &Builder::begin_if)
      .def("begin_else", &Builder::begin_else)
      .def("end_if", [](Builder& b, const Values& then_results,
                        const Values& else_results) { return b.end_if(then_results, else_results); })
      .def("assert_", [](Builder& b, Value c, const std::string& message) { b.assert_(c, message); })
      .def("print", [](Builder& b, const std::string& format, const Values& values) { b.print(format, values); });
}

nb::tuple describe(const ir::TypeInfo& t) {
  return nb::make_tuple(static_cast<int>(t.kind), static_cast<int>(t.dtype), t.shape);
}

}  // namespace

void bind_builder(nb::module_& m) {
  bind_kinds(m);
  bind_types(m);
  nb::class_<Builder> c(m, "Builder");
  c.def(nb::init<std::string, std::vector<ir::ArgSpec>, bool>(), nb::arg("name"), nb::arg("args"),
        nb::arg("ascending") = false)
      .def("set_location",
           [](Builder& b, const std::string& file, int line, int column) { b.set_location({file, line, column}); })
      .def("args", [](const Builder& b) { return b.args(); })
      .def("type", [](const Builder& b, Value v) { return describe(b.type(v)); })
      .def("check", [](const Builder& b) { check(b.status()); })
      .def("finish", [](Builder& b) { return take(b.finish()); });
  bind_memory(c);
  bind_shape(c);
  bind_arithmetic(c);
  bind_control(c);
}

}  // namespace epi::bind
