// base/dtype.h: the dtype table as Python sees it; epitaxy._dtypes makes its classes from these rows.
#include "bind.h"
#include "epi/base/dtype.h"

namespace epi::bind {

void bind_base(nb::module_& m) {
  nb::list rows;
  for (int i = 0; i < kDTypeCount; ++i) {
    const DTypeInfo& d = info(static_cast<DType>(i));
    const char kind[2] = {d.kind, 0};
    rows.append(nb::make_tuple(i, nb::str(d.name.data(), d.name.size()), d.size_bytes, nb::str(kind),
                               nb::str(d.typestr.data(), d.typestr.size())));
  }
  m.attr("DTYPES") = nb::tuple(rows);
}

}  // namespace epi::bind
