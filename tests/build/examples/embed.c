/* The smallest program that holds gainz: loads a model, asks it something, prints the answer as it comes.
 *
 *   embed MODEL.gguf PROMPT      exit 0, or 1 with one sentence on standard error */
#include <gainz/gainz.h>
#include <stdio.h>
#include <string.h>

static int fail(gainz_runtime* runtime, const char* error) {
  fprintf(stderr, "embed: %s\n", error);
  gainz_runtime_destroy(runtime);
  return 1;
}

int main(int argc, char** argv) {
  if (argc != 3) return fail(NULL, "usage: embed MODEL.gguf PROMPT");
  char error[512] = "";

  /* [create] */
  gainz_runtime_config config;
  gainz_runtime_config_init(&config);
  config.num_threads = 2; /* 0: one for each core that this process may use */
  gainz_runtime* runtime = NULL;
  if (gainz_runtime_create(&config, &runtime, error, sizeof error) != GAINZ_OK) return fail(runtime, error);
  /* [/create] */

  /* [load] */
  gainz_model_config model_config;
  gainz_model_config_init(&model_config);
  model_config.path = argv[1];
  gainz_model_id model = 0;
  if (gainz_model_load(runtime, &model_config, &model, error, sizeof error) != GAINZ_OK) return fail(runtime, error);
  /* [/load] */

  /* [submit] */
  gainz_request_config request_config;
  gainz_request_config_init(&request_config);
  request_config.model = model;
  request_config.prompt = argv[2];
  request_config.prompt_bytes = strlen(argv[2]);
  request_config.sampling.temperature = 0.0f; /* greedy */
  request_config.sampling.max_tokens = 48;
  gainz_request_id request = 0;
  if (gainz_submit(runtime, &request_config, &request, error, sizeof error) != GAINZ_OK) return fail(runtime, error);
  /* [/submit] */

  /* [events] */
  int failed = 0;
  const gainz_event* event = NULL;
  while (gainz_poll(runtime, request, -1, &event) == GAINZ_OK) { /* NOT_FOUND after the last event */
    if (event->kind == GAINZ_EVENT_TOKEN || event->kind == GAINZ_EVENT_DONE) fwrite(event->text, 1, event->text_bytes, stdout);
    if (event->kind == GAINZ_EVENT_DONE && event->code != GAINZ_OK) {
      fprintf(stderr, "embed: %s\n", event->error);
      failed = 1;
    }
    gainz_event_release(runtime, event);
  }
  putchar('\n');
  /* [/events] */

  gainz_runtime_destroy(runtime); /* cancels, joins and frees whatever is left */
  return failed;
}
