// ModelTable: the models of the configuration: which are in memory, loading and unloading them, room for each other, and the
// unloading of those nobody uses. Loads run one after the other on a thread of the table's own. Owner: the server. Thread: the
// network thread; the destructor stops a running load and waits for it.
#pragma once

#include <gainz/gainz.h>

#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "config/settings.h"
#include "server/server.h"

namespace boost::asio {
class io_context;
}

namespace gainz::host {

struct ModelSource {  // one model that may be asked for
  std::string id;     // what clients call it
  std::string path;
  Settings settings;  // with its overrides
};

class ModelTable {
 public:
  using Clock = std::chrono::steady_clock;
  using Log = std::function<void(uint32_t level, const std::string& sentence)>;

  ModelTable(boost::asio::io_context& io, gainz_runtime* runtime, std::vector<ModelSource> sources, uint64_t memory_bytes,
             Log log);
  ~ModelTable();
  ModelTable(const ModelTable&) = delete;
  ModelTable& operator=(const ModelTable&) = delete;

  // The model, loaded if it is not; a request for one that is loading waits. Throws ApiError.
  boost::asio::awaitable<std::shared_ptr<ServedModel>> get(std::string name);
  boost::asio::awaitable<void> load(std::string id);    // also one that failed before
  boost::asio::awaitable<void> unload(std::string id);  // its requests end with an error; once back, its memory is free
  std::vector<ModelState> states() const;
  void keep_alive(const std::string& id, std::chrono::seconds time);

  // A generation of it begins; it counts as used as long as the answer lives.
  std::shared_ptr<void> use(const std::string& id);

  // A changed configuration: models that are new can be asked for, those that are gone are unloaded, changed settings count
  // from the next load, those that can change live at once. Answers what a person should know, a sentence each.
  std::vector<std::string> replace(std::vector<ModelSource> sources, uint64_t memory_bytes);

  // Unloads what nobody has used for its keep_alive_seconds; called about once a second.
  void unload_idle(Clock::time_point now);

 private:
  struct Entry;
  struct Loader;
  struct LoadResult {
    gainz_model_id model;
    gainz_code code;
    std::string error;
    bool opens_thinking;
  };
  using EntryPtr = std::shared_ptr<Entry>;

  EntryPtr find(const std::string& name) const;  // throws 404
  boost::asio::awaitable<void> loaded(EntryPtr entry, bool is_forced);
  void start_load(EntryPtr entry);
  void finish_load(EntryPtr entry, const LoadResult& result);
  void start_unload(EntryPtr entry, const std::string& why);
  boost::asio::awaitable<void> unloaded(EntryPtr entry);
  uint64_t used_bytes() const;
  void make_room(const EntryPtr& wanted, uint64_t wanted_bytes);
  EntryPtr longest_idle(const EntryPtr& except) const;

  boost::asio::io_context& io_;
  gainz_runtime* runtime_;
  Log log_;
  uint64_t memory_bytes_;
  std::vector<EntryPtr> entries_;
  std::unique_ptr<Loader> loader_;
};

}  // namespace gainz::host
