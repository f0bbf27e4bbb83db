// POSIX files; see the header for the laws. Access time is kept by touching a file's modification time on a hit.
#include "epi/jit/disk_cache.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <vector>

namespace epi::jit {
namespace {

namespace fs = std::filesystem;
constexpr std::string_view kSuffix = ".epi";

std::string error_text() { return std::strerror(errno); }

std::optional<std::string> read_file(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  if (fd < 0) return std::nullopt;
  std::string out;
  char buffer[1 << 16];
  for (;;) {
    const ssize_t n = ::read(fd, buffer, sizeof buffer);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    out.append(buffer, static_cast<std::size_t>(n));
  }
  ::close(fd);
  return out;
}

bool write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
  return true;
}

}  // namespace

DiskCache DiskCache::from_environment() {
  std::uint64_t bound = std::uint64_t{1} << 30;
  if (const char* size = std::getenv("EPITAXY_CACHE_SIZE")) {
    char* end = nullptr;
    const std::uint64_t v = std::strtoull(size, &end, 10);
    if (end != size && *end == '\0') bound = v;
  }
  if (const char* dir = std::getenv("EPITAXY_CACHE_DIR")) return {dir, bound};
  if (const char* xdg = std::getenv("XDG_CACHE_HOME"); xdg && *xdg) return {std::string(xdg) + "/epitaxy", bound};
  if (const char* home = std::getenv("HOME"); home && *home) return {std::string(home) + "/.cache/epitaxy", bound};
  return {"", bound};
}

Status DiskCache::ensure_private_folder() const {
  std::error_code ignored;
  fs::create_directories(fs::path(folder_).parent_path(), ignored);
  if (::mkdir(folder_.c_str(), 0700) != 0 && errno != EEXIST)
    return io_error("cannot make the kernel cache folder " + folder_ + ": " + error_text() +
                    "; set EPITAXY_CACHE_DIR to a folder of yours, or to \"\" to do without");
  struct stat st {};
  if (::stat(folder_.c_str(), &st) != 0 || !S_ISDIR(st.st_mode))
    return io_error("the kernel cache " + folder_ + " is not a folder; set EPITAXY_CACHE_DIR to one, or to \"\"");
  if (st.st_uid != ::geteuid() || (st.st_mode & (S_IWGRP | S_IWOTH)) != 0)
    return io_error("the kernel cache folder " + folder_ + " can be written by others (owner " +
                    std::to_string(st.st_uid) + ", mode " + std::to_string((st.st_mode >> 6) & 7) +
                    std::to_string((st.st_mode >> 3) & 7) + std::to_string(st.st_mode & 7) +
                    "), who could plant code in it; make it yours (chmod go-w) or set EPITAXY_CACHE_DIR to another");
  return ok_status();
}

Result<std::optional<Artefact>> DiskCache::read(const std::string& key) const {
  if (!enabled()) return std::optional<Artefact>();
  EPI_RETURN_IF_ERROR(ensure_private_folder());
  const std::string path = folder_ + "/" + key + std::string(kSuffix);
  const std::optional<std::string> bytes = read_file(path);
  if (!bytes) return std::optional<Artefact>();
  Result<Artefact> artefact = decode(*bytes);
  if (!artefact.ok()) {
    ::unlink(path.c_str());
    return std::optional<Artefact>();
  }
  ::utimensat(AT_FDCWD, path.c_str(), nullptr, 0);
  return std::optional<Artefact>(std::move(artefact).value());
}

/// Whether this file's writer looks at the whole folder. It is chosen by its own checksum, so that among all processes
/// about one look falls on every sixteenth of the bound that is written; a folder of many small files costs 10 us each.
bool DiskCache::is_due(std::string_view bytes) const {
  std::uint32_t random = 0;
  std::memcpy(&random, bytes.data() + bytes.size() - sizeof random, sizeof random);
  return static_cast<double>(random) * static_cast<double>(max_bytes_) < 0x1p32 * 16 * static_cast<double>(bytes.size());
}

Status DiskCache::write(const std::string& key, const Artefact& artefact) const {
  if (!enabled()) return ok_status();
  EPI_RETURN_IF_ERROR(ensure_private_folder());
  static std::atomic<std::uint64_t> serial{0};
  const std::string path = folder_ + "/" + key + std::string(kSuffix);
  const std::string temporary =
      folder_ + "/.tmp-" + std::to_string(::getpid()) + "-" + std::to_string(serial.fetch_add(1)) + "-" + key.substr(0, 16);
  const int fd = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd < 0) return io_error("cannot write the kernel cache file " + temporary + ": " + error_text());
  const std::string bytes = encode(artefact);
  const bool written = write_all(fd, bytes);
  const bool closed = ::close(fd) == 0;
  if (!written || !closed || ::rename(temporary.c_str(), path.c_str()) != 0) {
    const std::string why = error_text();
    ::unlink(temporary.c_str());
    return io_error("cannot write the kernel cache file " + path + ": " + why);
  }
  if (is_due(bytes)) prune();
  return ok_status();
}

void DiskCache::prune() const {
  struct File {
    fs::file_time_type used;
    std::uint64_t bytes;
    fs::path path;
  };
  std::vector<File> files;
  std::uint64_t total = 0;
  std::error_code ec;
  for (fs::directory_iterator it(folder_, ec), end; !ec && it != end; it.increment(ec)) {
    std::error_code gone;  // another process may delete a file at any moment
    const auto used = it->last_write_time(gone);
    if (gone) continue;
    const auto bytes = it->file_size(gone);
    if (gone) continue;
    const bool stale_temporary = it->path().filename().string().starts_with(".tmp-") &&
                                 used < fs::file_time_type::clock::now() - std::chrono::hours(1);
    if (stale_temporary) fs::remove(it->path(), gone);
    if (it->path().extension() != kSuffix) continue;
    files.push_back({used, bytes, it->path()});
    total += bytes;
  }
  if (total <= max_bytes_) return;
  std::sort(files.begin(), files.end(), [](const File& a, const File& b) { return a.used < b.used; });
  for (const File& f : files) {
    if (total <= max_bytes_) break;
    std::error_code gone;
    fs::remove(f.path, gone);
    total -= f.bytes;
  }
}

}  // namespace epi::jit
