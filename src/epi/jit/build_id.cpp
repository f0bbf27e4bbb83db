// The linker's build id of the library that holds this function, found in its ELF notes in memory; else the version and
// this file's time of compilation.
#include "epi/jit/build_id.h"

#include <elf.h>
#include <link.h>

#include <cstring>

namespace epi::jit {
namespace {

struct Search {
  std::uintptr_t address;
  std::string id;
};

std::string note_of(const char* p, const char* end) {
  while (p + sizeof(ElfW(Nhdr)) <= end) {
    ElfW(Nhdr) note;
    std::memcpy(&note, p, sizeof note);
    const char* name = p + sizeof note;
    const char* desc = name + ((note.n_namesz + 3U) & ~3U);
    if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && std::memcmp(name, "GNU", 4) == 0)
      return {desc, note.n_descsz};
    p = desc + ((note.n_descsz + 3U) & ~3U);
  }
  return {};
}

int visit(dl_phdr_info* info, std::size_t, void* data) {
  auto& search = *static_cast<Search*>(data);
  bool ours = false;
  std::string id;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& h = info->dlpi_phdr[i];
    const std::uintptr_t begin = info->dlpi_addr + h.p_vaddr;
    if (h.p_type == PT_LOAD && search.address >= begin && search.address < begin + h.p_memsz) ours = true;
    if (h.p_type == PT_NOTE && id.empty())
      id = note_of(reinterpret_cast<const char*>(begin), reinterpret_cast<const char*>(begin + h.p_memsz));
  }
  if (ours) search.id = id;
  return ours ? 1 : 0;
}

}  // namespace

const std::string& build_id() {
  static const std::string id = [] {
    Search search{reinterpret_cast<std::uintptr_t>(&build_id), {}};
    dl_iterate_phdr(visit, &search);
    return std::string("0.1.0 ") + (search.id.empty() ? __DATE__ " " __TIME__ : search.id);
  }();
  return id;
}

}  // namespace epi::jit
