// Backends that take a part of the graph, and backends that lie.
#include "model/model_impl.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "gainz/sdk/reference_backend.h"
#include "gainz/sdk/simple_backend.h"
#include "model/limits.h"
#include "runtime/model/model_files.h"
#include "support/run_model.h"

namespace gainz {
namespace {

using namespace gainz::test;
using ::testing::HasSubstr;

// The reference kernels for some of the operations.
struct Partial : sdk::SimpleBackend {
  uint64_t scratch_bytes(const sdk::Node& node, const gainz_bucket& bucket) const override {
    return sdk::reference_scratch_bytes(node, bucket);
  }
  void compute(const sdk::Node& node, sdk::Compute& c) const override { sdk::reference_compute(node, c); }
};
struct LinearOnly : Partial {
  static constexpr sdk::PluginInfo kInfo{.name = "linear_only", .version = "1", .identity = "test"};
  bool supports(const sdk::Node& node) const override { return node.op == GAINZ_OP_LINEAR; }
};
struct AllButLinear : Partial {
  static constexpr sdk::PluginInfo kInfo{.name = "all_but_linear", .version = "1", .identity = "test"};
  bool supports(const sdk::Node& node) const override { return node.op != GAINZ_OP_LINEAR; }
};
struct EvenLayers : Partial {
  static constexpr sdk::PluginInfo kInfo{.name = "even_layers", .version = "1", .identity = "test"};
  bool supports(const sdk::Node& node) const override {
    return node.layer != GAINZ_NO_VALUE && node.layer % 2 == 0 && node.op != GAINZ_OP_KV_WRITE && node.op != GAINZ_OP_ATTENTION;
  }
};
struct Nothing : Partial {
  static constexpr sdk::PluginInfo kInfo{.name = "nothing", .version = "1", .identity = "test"};
  bool supports(const sdk::Node&) const override { return false; }
};

struct ModelImplTest : ::testing::Test {
  Result<std::unique_ptr<Model>> load(gainz_plugin_query_fn query, const std::string& architecture, const std::string& fallback,
                                      uint32_t num_layers = 7) {
    FileShape shape;
    shape.num_layers = num_layers;
    shape.num_experts = 4;
    shape.num_used = 2;
    shape.expert_feed_forward = 16;
    const std::string path = write_temporary(model_file(architecture, shape), architecture + ".gguf");
    ModelOptions options;
    options.path = path;
    options.fallback = fallback;
    const auto loaded = load_file(options);
    std::remove(path.c_str());
    if (!loaded.ok()) return loaded.status();
    GAINZ_ASSIGN(auto plugin, PluginLibrary::from_query(query, "(test)", host.host));
    return ModelImpl::create(host.services, *loaded, plugin, options);
  }
  std::vector<float> logits(Model& model, uint32_t chunk, std::vector<float>* hidden = nullptr, uint32_t max_pages = 64) {
    std::vector<int32_t> ids;
    for (int32_t i = 0; i < 40; ++i) ids.push_back(i * 31 % 48);
    RunOptions options;
    options.chunk = chunk;
    options.hidden = hidden;
    options.max_pages = max_pages;
    const auto out = run_model(model, ids, options);
    EXPECT_TRUE(out.ok()) << out.status().message();
    return out.ok() ? *out : std::vector<float>();
  }
  ModelHost host{1, false};
};

TEST_F(ModelImplTest, PartsGiveTheSameBits) {
  const std::pair<const char*, gainz_plugin_query_fn> partial[] = {{"linear_only", sdk::simple_query<LinearOnly>},
                                                                   {"all_but_linear", sdk::simple_query<AllButLinear>},
                                                                   {"even_layers", sdk::simple_query<EvenLayers>}};
  for (const char* architecture : {"llama", "gemma3", "qwen3moe"}) {
    auto whole = load(gainz_reference_query, architecture, "error");
    ASSERT_TRUE(whole.ok()) << whole.status().message();
    ASSERT_TRUE(prepare_model(**whole, {}).ok());
    EXPECT_EQ((*whole)->num_scalar_nodes(), 0u);
    std::vector<float> whole_hidden;
    const std::vector<float> want = logits(**whole, 0, &whole_hidden);
    for (const auto& [name, query] : partial) {
      auto cut = load(query, architecture, "scalar");
      ASSERT_TRUE(cut.ok()) << cut.status().message();
      EXPECT_EQ((*cut)->device().backend, name);
      EXPECT_GT((*cut)->num_scalar_nodes(), 0u);
      ASSERT_TRUE(prepare_model(**cut, {}).ok());
      std::vector<float> hidden;
      EXPECT_EQ(logits(**cut, 0, &hidden), want) << name << " " << architecture;
      EXPECT_EQ(hidden, whole_hidden);
      EXPECT_EQ(logits(**cut, 7), want) << name << " " << architecture << ", chunked, without hidden rows";
    }
  }
}

TEST_F(ModelImplTest, LeftNodesAreAnErrorUnlessAskedFor) {
  const Status status = load(sdk::simple_query<LinearOnly>, "llama", "error").status();
  EXPECT_EQ(status.code(), Code::unsupported);
  EXPECT_THAT(status.message(), HasSubstr("backend linear_only leaves"));
  EXPECT_THAT(status.message(), HasSubstr("node 0 (embed)"));
  EXPECT_EQ(load(sdk::simple_query<Nothing>, "llama", "scalar").status().code(), Code::unsupported);
}

TEST_F(ModelImplTest, CopiedPagesHoldTheSameTokens) {
  for (const gainz_plugin_query_fn query :
       {gainz_plugin_query_fn(gainz_reference_query), gainz_plugin_query_fn(sdk::simple_query<LinearOnly>)}) {
    auto model = load(query, "gemma3", "scalar");
    ASSERT_TRUE(model.ok());
    RunOptions options;
    options.max_pages = 8;
    ASSERT_TRUE(prepare_model(**model, options).ok());
    const std::vector<float> want = logits(**model, 0, nullptr, options.max_pages);
    ASSERT_FALSE(want.empty());
    const gainz_page_copy copies[] = {{1, 5}, {2, 6}, {3, 7}};
    for (uint32_t g = 0; g < 2; ++g) ASSERT_TRUE((*model)->copy_pages(g, copies).ok());
    EXPECT_FALSE((*model)->copy_pages(2, copies).ok());
    // The last token again, its context now on pages 5 to 7.
    const std::vector<int32_t> token{39 * 31 % 48}, position{39};
    const std::vector<uint8_t> phase{GAINZ_PHASE_PROMPT};
    const std::vector<uint32_t> offsets{0, 1}, lengths{40}, rows{0}, slots{7 * 16 + 7}, table{5, 6, 7, 0, 0, 0, 0, 0};
    const std::vector<std::span<const uint32_t>> all_slots(2, slots), all_tables(2, table);
    std::vector<float> row(48);
    StepArrays step{token, position, phase, offsets, lengths, rows, all_slots, all_tables, 8, row.data(), nullptr};
    ASSERT_TRUE((*model)->begin(step).ok());
    for (bool done = false; !done;) {
      const auto advanced = (*model)->advance();
      ASSERT_TRUE(advanced.ok()) << advanced.status().message();
      done = *advanced;
    }
    EXPECT_EQ(row, std::vector<float>(want.end() - 48, want.end()));
  }
}

TEST_F(ModelImplTest, StepsAreChecked) {
  auto loaded = load(gainz_reference_query, "llama", "error", 1);
  ASSERT_TRUE(loaded.ok());
  Model& model = **loaded;
  std::vector<int32_t> tokens{1, 2}, positions{0, 1};
  std::vector<uint8_t> phases{0, 0};
  std::vector<uint32_t> offsets{0, 2}, lengths{2}, rows{0, 1}, slots{16, 17}, table{1, 0};
  std::vector<std::span<const uint32_t>> all_slots{slots}, all_tables{table};
  std::vector<float> out(2 * 48);
  const auto begin = [&] {
    all_slots[0] = slots;
    all_tables[0] = table;
    return model.begin({tokens, positions, phases, offsets, lengths, rows, all_slots, all_tables, 2, out.data(), nullptr});
  };
  EXPECT_THAT(begin().message(), HasSubstr("before prepare"));
  EXPECT_FALSE(model.advance().ok());
  const gainz_bucket bucket{sizeof(gainz_bucket), 2, 1, 2, 2, 0};
  const std::vector<uint32_t> num_pages{3}, wrong_pages{3, 3};
  EXPECT_FALSE(model.prepare(0, 0, wrong_pages, bucket).ok());
  EXPECT_FALSE(model.prepare(0, 0, num_pages, {sizeof(gainz_bucket), 0, 1, 0, 2, 0}).ok());
  ASSERT_TRUE(model.prepare(0, 0, num_pages, bucket).ok());
  EXPECT_THAT(model.prepare(0, 0, num_pages, bucket).message(), HasSubstr("once"));
  EXPECT_TRUE(begin().ok());
  const auto broken = [&](auto change, const char* message) {
    const auto keep = std::tuple(tokens, positions, phases, offsets, lengths, rows, slots, table);
    change();
    EXPECT_THAT(begin().message(), HasSubstr(message));
    EXPECT_FALSE(model.advance().ok());
    std::tie(tokens, positions, phases, offsets, lengths, rows, slots, table) = keep;
  };
  broken([&] { tokens[1] = 48; }, "token 48 is not in the vocabulary of 48");
  broken([&] { tokens[0] = -1; }, "token -1");
  broken([&] { tokens.push_back(1); }, "a step of 3 tokens");
  broken([&] { tokens.clear(); }, "a step of 0 tokens");
  broken([&] { positions.pop_back(); }, "do not fit");
  broken([&] { slots.pop_back(); }, "do not fit");
  broken([&] { table.pop_back(); }, "do not fit");
  broken([&] { rows = {1, 0}; }, "output rows");
  broken([&] { rows = {0, 2}; }, "output rows");
  broken([&] { offsets = {0, 1}; }, "query offsets");
  broken([&] { offsets = {1, 2}; }, "query offsets");
  EXPECT_TRUE(begin().ok());
}

// The reference backend with one function of its table replaced.
gainz_device_api g_real;                         // NOLINT: a test's own, set at each device_open
void (*g_replace)(gainz_device_api&) = nullptr;  // NOLINT

gainz_status lying_query(const gainz_host* host, gainz_plugin* out, gainz_error* error) {
  const gainz_status status = gainz_reference_query(host, out, error);
  static gainz_plugin real;
  real = *out;
  out->name = "liar";
  out->device_open = [](const gainz_host* h, uint32_t index, const gainz_option* options, uint64_t stride, uint32_t n,
                        gainz_device_api* api, gainz_device** device, gainz_error* e) {
    const gainz_status opened = real.device_open(h, index, options, stride, n, api, device, e);
    g_real = *api;
    g_replace(*api);
    return opened;
  };
  return status;
}

struct Lie {
  const char* name;
  void (*replace)(gainz_device_api&);
  Code code;
  const char* message;
};

gainz_status claim_strangely(gainz_device* d, const gainz_graph* g, uint8_t* claims, gainz_error* e) {
  const gainz_status status = g_real.model_claim(d, g, claims, e);
  claims[2] = 77;
  return status;
}
gainz_status claim_beyond(gainz_device* d, const gainz_graph* g, uint8_t* claims, gainz_error* e) {
  const gainz_status status = g_real.model_claim(d, g, claims, e);
  claims[g->num_nodes] = 1;
  return status;
}
gainz_status claim_half(gainz_device* d, const gainz_graph* g, uint8_t* claims, gainz_error* e) {
  const gainz_status status = g_real.model_claim(d, g, claims, e);
  for (uint32_t i = 0; i < g->num_nodes; ++i) claims[i] = g->nodes[i].op != GAINZ_OP_ATTENTION;
  return status;
}
gainz_status no_model(gainz_device*, const gainz_graph*, const gainz_weights*, gainz_model**, gainz_error*) {
  return GAINZ_STATUS_OK;
}
gainz_status no_kv(gainz_device*, gainz_model*, const gainz_kv_desc*, gainz_kv**, gainz_error*) { return GAINZ_STATUS_OK; }
gainz_status no_program(gainz_device*, gainz_model*, gainz_kv*, const gainz_bucket*, gainz_program**, gainz_error*) {
  return GAINZ_STATUS_OK;
}
gainz_status no_slices(gainz_device*, gainz_program*, gainz_program_info* info, gainz_error*) {
  info->num_slices = 0;
  return GAINZ_STATUS_OK;
}
gainz_status many_slices(gainz_device*, gainz_program*, gainz_program_info* info, gainz_error*) {
  info->num_slices = kMaxProgramSlices + 1;
  return GAINZ_STATUS_OK;
}
gainz_status same_ticket(gainz_device*, gainz_program*, const gainz_step*, uint32_t, uint32_t, uint64_t* ticket, gainz_error*) {
  *ticket = 5;
  return GAINZ_STATUS_OK;
}
gainz_status done_at_once(gainz_device*, uint64_t, uint64_t, gainz_error*) { return GAINZ_STATUS_OK; }
gainz_status always_busy(gainz_device*, uint64_t, uint64_t, gainz_error*) { return GAINZ_STATUS_BUSY; }
gainz_status lost(gainz_device*, uint64_t, uint64_t, gainz_error*) { return GAINZ_STATUS_DEVICE_LOST; }
gainz_status unknown_status(gainz_device*, uint64_t, uint64_t, gainz_error*) { return 4711; }

const Lie kLies[] = {
    {"claim_value", [](auto& a) { a.model_claim = claim_strangely; }, Code::internal, "claim 77 for node 2"},
    {"claim_beyond", [](auto& a) { a.model_claim = claim_beyond; }, Code::internal, "wrote beyond"},
    {"claim_half", [](auto& a) { a.model_claim = claim_half; }, Code::internal, "only some of the kv_write and attention"},
    {"no_model", [](auto& a) { a.model_create = no_model; }, Code::internal, "OK without a model"},
    {"no_kv", [](auto& a) { a.kv_create = no_kv; }, Code::internal, "OK without pages"},
    {"no_program", [](auto& a) { a.program_create = no_program; }, Code::internal, "OK without a program"},
    {"no_slices", [](auto& a) { a.program_describe = no_slices; }, Code::internal, "a program of 0 slices"},
    {"many_slices", [](auto& a) { a.program_describe = many_slices; }, Code::internal, "a program of 4097 slices"},
    {"same_ticket",
     [](auto& a) {
       a.run = same_ticket;
       a.wait = done_at_once;
     },
     Code::internal, "ticket 5 after 5"},
    {"always_busy", [](auto& a) { a.wait = always_busy; }, Code::internal, "not done after 600 waits"},
    {"lost", [](auto& a) { a.wait = lost; }, Code::device_lost, "backend liar"},
    {"unknown_status", [](auto& a) { a.wait = unknown_status; }, Code::internal, "unknown status 4711"},
};

class Lies : public ModelImplTest, public ::testing::WithParamInterface<Lie> {};

TEST_P(Lies, AreErrorsThatNameTheBackend) {
  g_replace = GetParam().replace;
  const auto first_error = [&]() -> Status {
    auto model = load(lying_query, "llama", "scalar");
    if (!model.ok()) return model.status();
    GAINZ_TRY(prepare_model(**model, {}));
    const Status status = run_model(**model, {1, 2, 3}, {}).status();
    // Lost stays lost; after any other fault the next step is tried.
    const Status again = run_model(**model, {1, 2, 3}, {}).status();
    EXPECT_EQ(again.code(), GetParam().code);
    return status;
  };
  const Status status = first_error();
  EXPECT_EQ(status.code(), GetParam().code) << status.message();
  EXPECT_THAT(status.message(), HasSubstr(GetParam().message));
  EXPECT_THAT(status.message(), HasSubstr("backend liar"));
}

INSTANTIATE_TEST_SUITE_P(ModelImpl, Lies, ::testing::ValuesIn(kLies),
                         [](const auto& param) { return std::string(param.param.name); });

}  // namespace
}  // namespace gainz
