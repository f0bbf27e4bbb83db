// Artefacts on disk, one file a key. Safe for many processes on one folder: files appear whole (temporary file,
// rename), a reader sees an old file, a new one or none. Private: a folder that others may write to is refused.
// Bounded: past `max_bytes` the files least recently used go, at the latest when about a sixteenth more was written: not
// every write counts the folder. A damaged file is deleted and counts as a miss.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "epi/base/status.h"
#include "epi/jit/artefact.h"

namespace epi::jit {

class DiskCache {
 public:
  /// Folder: EPITAXY_CACHE_DIR, else $XDG_CACHE_HOME/epitaxy, else ~/.cache/epitaxy. EPITAXY_CACHE_DIR="" turns it off.
  /// EPITAXY_CACHE_SIZE bounds it (bytes; default 1 GiB).
  static DiskCache from_environment();
  DiskCache(std::string folder, std::uint64_t max_bytes) : folder_(std::move(folder)), max_bytes_(max_bytes) {}

  /// The artefact, or nothing (absent, damaged, cache off). An error only where the folder is refused.
  Result<std::optional<Artefact>> read(const std::string& key) const;
  /// Stores; failure to write is not an error of the computation: it is returned for the log.
  Status write(const std::string& key, const Artefact& artefact) const;
  [[nodiscard]] const std::string& folder() const { return folder_; }
  [[nodiscard]] bool enabled() const { return !folder_.empty(); }

 private:
  Status ensure_private_folder() const;
  [[nodiscard]] bool is_due(std::string_view bytes) const;
  void prune() const;
  std::string folder_;
  std::uint64_t max_bytes_;
};

}  // namespace epi::jit
