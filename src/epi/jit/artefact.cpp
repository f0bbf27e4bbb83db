// Little-endian fields, strings length-prefixed, and a SHA-256 of everything before it at the end.
#include "epi/jit/artefact.h"

#include <cstring>

#include "epi/base/hash.h"

namespace epi::jit {
namespace {

constexpr std::string_view kMagic = "EPIART01";
constexpr std::size_t kDigestBytes = 32;

struct Writer {
  std::string out;
  void u64(std::uint64_t v) {
    for (int i = 0; i < 8; ++i) out += static_cast<char>(v >> (8 * i));
  }
  void text(std::string_view s) {
    u64(s.size());
    out += s;
  }
};

/// Reads what Writer wrote; `bad` once anything does not fit.
struct Reader {
  std::string_view in;
  bool bad = false;
  std::uint64_t u64() {
    if (in.size() < 8) {
      bad = true;
      return 0;
    }
    std::uint64_t v = 0;
    for (int i = 0; i < 8; ++i) v |= std::uint64_t{static_cast<std::uint8_t>(in[static_cast<std::size_t>(i)])} << (8 * i);
    in.remove_prefix(8);
    return v;
  }
  std::string text() {
    const std::uint64_t n = u64();
    if (n > in.size()) {
      bad = true;
      return {};
    }
    std::string s(in.substr(0, n));
    in.remove_prefix(n);
    return s;
  }
  std::uint64_t count() {
    const std::uint64_t n = u64();
    if (n > in.size()) bad = true;  // every counted thing takes at least a byte
    return bad ? 0 : n;
  }
};

void write_slot(Writer& w, const Slot& s) {
  w.u64(static_cast<std::uint64_t>(s.kind));
  w.u64(s.arg);
  w.u64(s.axis);
  w.u64(s.swizzle_bytes);
  w.u64(s.box.size());
  for (std::uint32_t b : s.box) w.u64(b);
}

Slot read_slot(Reader& r) {
  Slot s;
  s.kind = static_cast<SlotKind>(r.u64());
  s.arg = static_cast<std::uint16_t>(r.u64());
  s.axis = static_cast<std::uint8_t>(r.u64());
  s.swizzle_bytes = static_cast<std::uint8_t>(r.u64());
  for (std::uint64_t n = r.count(); n-- > 0;) s.box.push_back(static_cast<std::uint32_t>(r.u64()));
  return s;
}

std::string digest(std::string_view bytes) {
  const auto d = Sha256().update(bytes).digest();
  return {reinterpret_cast<const char*>(d.data()), d.size()};
}

}  // namespace

std::string encode(const Artefact& a) {
  Writer w;
  w.out = kMagic;
  w.text(a.info.name);
  w.u64(a.info.slots.size());
  for (const Slot& s : a.info.slots) write_slot(w, s);
  w.u64(a.info.sites.size());
  for (const std::string& s : a.info.sites) w.text(s);
  w.u64(a.info.block_threads);
  w.u64(a.info.shared_bytes);
  w.u64(a.info.cluster);
  w.u64(a.info.persistent);
  w.u64(a.info.arena_bytes);
  w.u64(a.info.written);
  w.u64(a.info.ascending ? 1 : 0);
  w.text(a.code);
  w.out += digest(w.out);
  return std::move(w.out);
}

Result<Artefact> decode(std::string_view bytes) {
  if (bytes.size() < kMagic.size() + kDigestBytes || bytes.substr(0, kMagic.size()) != kMagic)
    return io_error("not a kernel artefact of this version");
  const std::string_view body = bytes.substr(0, bytes.size() - kDigestBytes);
  if (digest(body) != bytes.substr(body.size())) return io_error("kernel artefact is damaged: its checksum differs");
  Reader r{body.substr(kMagic.size())};
  Artefact a;
  a.info.name = r.text();
  for (std::uint64_t n = r.count(); n-- > 0 && !r.bad;) a.info.slots.push_back(read_slot(r));
  for (std::uint64_t n = r.count(); n-- > 0 && !r.bad;) a.info.sites.push_back(r.text());
  a.info.block_threads = static_cast<std::uint32_t>(r.u64());
  a.info.shared_bytes = static_cast<std::uint32_t>(r.u64());
  a.info.cluster = static_cast<std::uint32_t>(r.u64());
  a.info.persistent = static_cast<std::uint32_t>(r.u64());
  a.info.arena_bytes = r.u64();
  a.info.written = r.u64();
  a.info.ascending = r.u64() != 0;
  a.code = r.text();
  if (r.bad || !r.in.empty()) return io_error("kernel artefact is damaged: fields do not fit");
  return a;
}

}  // namespace epi::jit
