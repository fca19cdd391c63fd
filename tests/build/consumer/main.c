/* Makes a runtime from the installed library and lists its devices. Exit 0 if the reference backend is among them. */
#include <gainz/gainz.h>
#include <stdio.h>
#include <string.h>

int main(void) {
  char error[256] = "";
  gainz_runtime* runtime = NULL;
  if (gainz_runtime_create(NULL, &runtime, error, sizeof error) != GAINZ_OK ||
      gainz_devices_refresh(runtime, error, sizeof error) != GAINZ_OK) {
    fprintf(stderr, "gainz %s: %s\n", gainz_version(), error);
    gainz_runtime_destroy(runtime);
    return 1;
  }
  int found = 0;
  const uint32_t num_devices = gainz_device_count(runtime);
  for (uint32_t i = 0; i < num_devices; ++i) {
    gainz_device_info info = {.struct_size = sizeof info};
    if (gainz_device_get(runtime, i, &info) != GAINZ_OK) continue;
    printf("%s: %s\n", info.backend, info.name);
    found |= strcmp(info.backend, "reference") == 0;
  }
  gainz_runtime_destroy(runtime);
  return found ? 0 : 1;
}
