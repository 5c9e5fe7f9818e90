/* `--device`: what runs a program. */
#include "ir/gpu.h"
#include "kit.h"

#include <string.h>

static const struct {
  const char *name;
  Device device;
  const char *target; /* what it runs without --target; NULL: that of a processor */
} devices[] = {
    {"cpu", DEVICE_CPU, NULL},
    {"emulate", DEVICE_EMULATE, "emulated"},
    {"opencl", DEVICE_OPENCL, "opencl"},
    {"cuda", DEVICE_CUDA, CUDA_DEFAULT},
};
enum { N_DEVICES = sizeof devices / sizeof *devices };

bool is_on_device(Device d) { return d == DEVICE_OPENCL || d == DEVICE_CUDA; }

/* "opencl", or "opencl:1" for the second one. */
static bool is_called(const char *name, const char *wanted, Device device) {
  const size_t n = strlen(name);
  if (is_on_device(device) && strncmp(name, wanted, n) == 0 && wanted[n] == ':')
    return wanted[n + 1] && strspn(wanted + n + 1, "0123456789") == strlen(wanted + n + 1);
  return strcmp(wanted, name) == 0;
}

bool find_device(Running *o) {
  if (!o->device_name) return true;
  char names[128] = "";
  for (int i = 0; i < N_DEVICES; i++) {
    if (is_called(devices[i].name, o->device_name, devices[i].device)) {
      o->device = devices[i].device;
      if (!o->make.from.target) o->make.from.target = devices[i].target;
      return true;
    }
    const size_t n = strlen(names);
    snprintf(names + n, sizeof names - n, "%s%s",
             !i                  ? ""
             : i + 1 < N_DEVICES ? ", "
                                 : " or ",
             devices[i].name);
  }
  Nearest best = {.wanted = o->device_name, .n_wanted = strlen(o->device_name)};
  for (int i = 0; i < N_DEVICES; i++)
    tirc_offer_name(&best, devices[i].name, strlen(devices[i].name));
  complain(tirc_suggest_name(&best, "", NULL), "--device is %s, not '%s'", names, o->device_name);
  return false;
}
