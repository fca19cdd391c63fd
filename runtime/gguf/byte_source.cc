#include "gguf/byte_source.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <limits>
#include <system_error>

#include "gguf/text.h"

namespace gainz {

namespace {

constexpr uint64_t kReadAtLeastBytes = uint64_t{1} << 20;
constexpr uint64_t kReadAtMostBytes = uint64_t{1} << 28;  // one system call

Status system_error(const std::string& path, const char* doing, int error) {
  const Code code = error == ENOENT || error == ENOTDIR ? Code::not_found
                    : error == ENOMEM                   ? Code::out_of_host_memory
                                                        : Code::invalid;
  return {code, joined(path, ": cannot ", doing, ": ", std::generic_category().message(error))};
}

}  // namespace

std::unique_ptr<ByteSource> ByteSource::lend(std::span<const std::byte> bytes) {
  std::unique_ptr<ByteSource> source(new ByteSource("model in memory", Kind::lent));
  source->data_ = bytes.data();
  source->size_ = bytes.size();
  return source;
}

Result<std::unique_ptr<ByteSource>> ByteSource::open(const std::string& path, bool use_mmap) {
  if (path.find('\0') != std::string::npos)
    return Status(Code::invalid, joined(quoted(path), ": a path cannot hold a zero byte"));
  std::unique_ptr<ByteSource> source(new ByteSource(path, use_mmap ? Kind::mapped : Kind::read));
  int file = -1;
  do {
    file = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);  // non-blocking: a FIFO must not hold us
  } while (file < 0 && errno == EINTR);
  if (file < 0) return system_error(path, "open", errno);
  source->file_ = file;
  GAINZ_TRY(source->attach(file, use_mmap));
  return source;
}

Status ByteSource::attach(int file, bool use_mmap) {
  struct stat info {};
  if (::fstat(file, &info) != 0) return system_error(name_, "stat", errno);
  if (S_ISDIR(info.st_mode)) return system_error(name_, "read", EISDIR);
  if (!S_ISREG(info.st_mode)) return {Code::invalid, joined(name_, ": not a regular file (a pipe, socket or device)")};
  if (info.st_size <= 0)
    return {Code::invalid, joined(name_, ": the file is empty; a GGUF file begins with 24 bytes of header")};
  const auto size = static_cast<uint64_t>(info.st_size);
  if (size > std::numeric_limits<size_t>::max() / 2) return system_error(name_, "map", ENOMEM);
  const int protection = use_mmap ? PROT_READ : PROT_READ | PROT_WRITE;
  const int flags = use_mmap ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS;
  void* memory = ::mmap(nullptr, size, protection, flags, use_mmap ? file : -1, 0);
  if (memory == MAP_FAILED) return system_error(name_, use_mmap ? "map into memory" : "get memory for the file", errno);
  data_ = static_cast<const std::byte*>(memory);
  size_ = size;
  if (use_mmap) done();
  return {};
}

ByteSource::~ByteSource() {
  done();
  if (kind_ != Kind::lent && data_ != nullptr) ::munmap(const_cast<std::byte*>(data_), size_);
}

void ByteSource::done() {
  if (file_ >= 0) ::close(file_);
  file_ = -1;
}

Status ByteSource::load_to(uint64_t end) {
  if (end > size_) return {Code::internal, joined(name_, ": byte ", end, " asked of ", size_)};
  if (kind_ != Kind::read) return {};
  const uint64_t wanted = end <= loaded_ ? loaded_ : std::min(size_, std::max(end, loaded_ + kReadAtLeastBytes));
  while (loaded_ < wanted) {
    std::byte* to = const_cast<std::byte*>(data_) + loaded_;
    const ssize_t count = ::pread(file_, to, std::min(wanted - loaded_, kReadAtMostBytes), static_cast<off_t>(loaded_));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return system_error(name_, "read", errno);
    if (count == 0) {
      return {Code::invalid,
              joined(name_, ": needs ", size_, " bytes, but became shorter while it was read: ", loaded_, " present")};
    }
    loaded_ += static_cast<uint64_t>(count);
  }
  return {};
}

}  // namespace gainz
