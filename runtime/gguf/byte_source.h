// ByteSource: the bytes of one model file: mapped, read into memory as far as they are asked for, or lent by the caller.
//
// Only bytes that load_to() has covered may be touched. A mapped file costs no memory of its own, but a disk error or a
// truncation while it is in use becomes a signal; a file that is read becomes independent of the disk. The descriptor is closed
// by done(). Owner: the Gguf. Threads: one until done(), then any.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "base/status.h"

namespace gainz {

class ByteSource {
 public:
  // Never waits on a FIFO. Errors: not_found (no such file), invalid (a folder, a FIFO, unreadable, empty: path and system's
  // reason), out_of_host_memory.
  static Result<std::unique_ptr<ByteSource>> open(const std::string& path, bool use_mmap);
  static std::unique_ptr<ByteSource> lend(std::span<const std::byte> bytes);  // not copied

  ~ByteSource();
  ByteSource(const ByteSource&) = delete;
  ByteSource& operator=(const ByteSource&) = delete;

  const std::string& name() const { return name_; }  // the path, for messages
  uint64_t size_bytes() const { return size_; }
  const std::byte* data() const { return data_; }

  // Makes [0, end) readable; end <= size_bytes(). Errors: invalid (the disk's reason, or the file became shorter).
  Status load_to(uint64_t end);
  void done();

 private:
  enum class Kind { lent, mapped, read };
  ByteSource(std::string name, Kind kind) : name_(std::move(name)), kind_(kind) {}
  Status attach(int file, bool use_mmap);

  std::string name_;
  Kind kind_;
  const std::byte* data_ = nullptr;
  uint64_t size_ = 0;
  uint64_t loaded_ = 0;  // read: how far
  int file_ = -1;
};

}  // namespace gainz
