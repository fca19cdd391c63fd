// Engine: one model at work for many requests.
//
// Before: gainz_submit hands it a Request. After: Events leave through the EventSink; exactly one of each request is the last.
// A step: take commands, draft, schedule, lay out, run slice by slice, sample, emit. Between slices commands are taken again,
// so that a cancel is answered within one slice and a caller with a frame to draw gets its thread back.
//
// Owner: the runtime. Threads: submit, cancel and stats from any; tick from one at a time (the engine's own thread, if start()
// made one).
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <unordered_map>

#include "engine/batch.h"
#include "engine/engine_options.h"
#include "engine/request.h"
#include "engine/speculator.h"
#include "sampler/stop_matcher.h"
#include "tokenizer/tokenizer.h"

namespace gainz {

class Engine {
 public:
  static Result<std::unique_ptr<Engine>> create(const Services& services, std::unique_ptr<Model> model,
                                                std::shared_ptr<const Tokenizer> tokenizer, EventSink& sink,
                                                const EngineOptions& options, std::unique_ptr<DraftModel> draft_model);
  ~Engine();  // stops the thread; every request still there ends as cancelled

  Status start();  // an engine thread of its own
  // REQUIRES: the sink knows request.id. From here on its last event is certain, unless an error is returned.
  Status submit(Request request);
  void cancel(gainz_request_id id);
  // Works until nothing is left to do, or the clock passes deadline_us (at least one slice). True while work remains.
  bool tick(uint64_t deadline_us);

  const Model& model() const { return *model_; }
  const EngineOptions& options() const { return options_; }
  gainz_model_stats stats() const;

 private:
  struct Active;
  struct Commands {
    std::vector<Request> submitted;
    std::vector<gainz_request_id> cancelled;
  };

  Engine(std::unique_ptr<Model> model, std::shared_ptr<const Tokenizer> tokenizer, EventSink& sink,
         const EngineOptions& options);
  void thread_main();
  bool step(uint64_t deadline_us);
  void take_commands();
  void accept(Request& request);
  bool advance_drafts(uint64_t deadline_us);
  void begin_step();
  void announce(Active& active, uint64_t now);
  Status copy_pages(const Schedule& schedule);
  bool advance_step(uint64_t deadline_us);
  void finish_step();
  void draw_rows();
  void draw(size_t row);
  void read_row(size_t row);
  void read_generated(Active& active, size_t row);
  void read_prompt_logprob(Active& active, size_t row, uint32_t token_index);
  void read_logits(Active& active, size_t row, uint32_t token_index);
  void read_hidden(Active& active, size_t row, uint32_t token_index);
  void push(Active& active, PendingEvent& event);
  void end(Active& active, gainz_code code, uint32_t reason, const char* error);
  void refuse(const Request& request, gainz_code code, uint32_t reason, const char* error);
  void fail_step(gainz_code code, const char* error);
  void bury();
  void publish_stats();

  const EngineOptions options_;
  std::unique_ptr<Model> model_;
  std::shared_ptr<const Tokenizer> tokenizer_;
  EventSink& sink_;
  std::unique_ptr<PagePool> pool_;
  std::unique_ptr<Scheduler> scheduler_;
  std::unique_ptr<Speculator> speculator_;
  Batch batch_;

  std::unordered_map<gainz_request_id, std::unique_ptr<Active>> active_;
  std::vector<Active*> ended_;  // of the step in flight; freed when it is over
  const Schedule* in_flight_ = nullptr;
  const Services* services_ = nullptr;
  std::vector<size_t> drawn_rows_;          // of the step that ends: the first that each sequence draws from
  double step_us_ = 0, step_begin_us_ = 0;  // time spent on the step in flight, and since when it is counted
  bool lost_ = false;                       // the device: every request fails
  bool busy_ = false;                       // the engine thread's: work was left by the last tick
  uint64_t num_accepted_ = 0;
  uint32_t num_deadlines_ = 0;  // requests with one
  gainz_model_stats counts_{};

  mutable std::mutex mutex_;  // guards what follows
  std::condition_variable wake_;
  Commands commands_, taken_;
  bool stopping_ = false;
  gainz_model_stats stats_{};

  std::thread thread_;
};

}  // namespace gainz
