/* The table of GPUs. */
#include "gpu.h"
#include "ascii.h"
#include "nearest.h"

const char *const tirc_gpu_axes[GPU_AXES] = {"blockIdx.x",  "blockIdx.y",  "blockIdx.z",
                                             "threadIdx.x", "threadIdx.y", "threadIdx.z"};

const char *const tirc_gpu_kinds[] = {"cuda", "opencl", "webgpu"};

ThreadAxis tirc_gpu_axis(const char *thread) {
  if (!thread) return AXIS_NONE;
  for (int i = 0; i < GPU_AXES; i++)
    if (!strcmp(thread, tirc_gpu_axes[i])) return (ThreadAxis)i;
  if (!strncmp(thread, "pe.", 3) && thread[3] >= 'x' && thread[3] <= 'z' && !thread[4])
    return (ThreadAxis)((int)AXIS_PE_X + thread[3] - 'x');
  return !strncmp(thread, "vthread", 7) ? AXIS_VIRTUAL
         : !strcmp(thread, "cthread")   ? AXIS_COPROCESSOR
                                        : AXIS_UNKNOWN;
}

int64_t tirc_gpu_most_along(GpuKind kind, int axis) {
  static const int64_t cuda[GPU_AXES] = {INT32_MAX, 65535, 65535, 1024, 1024, 64};
  static const int64_t webgpu[GPU_AXES] = {65535, 65535, 65535, 256, 256, 64};
  if (kind == GPU_OPENCL || axis >= GPU_AXES) return INT64_MAX;
  return kind == GPU_CUDA ? cuda[axis] : webgpu[axis];
}

int64_t tirc_gpu_end_behind(int64_t at, int64_t bytes) {
  int64_t end;
  if (bytes < 0 || __builtin_add_overflow(at, GPU_ALIGNMENT - 1, &end)) return INT64_MAX;
  end -= end % GPU_ALIGNMENT;
  return __builtin_add_overflow(end, bytes, &end) ? INT64_MAX : end;
}

static const Gpu gpus[] = {
#define SIDE_BY_SIDE(...)                                                                          \
  { __VA_ARGS__ }
#define UNKNOWN                                                                                    \
  { 0 }
#define GPU(...) {__VA_ARGS__},
#define CARD(tag, row)
#include "gpus.def"
#undef GPU
#undef SIDE_BY_SIDE
#undef UNKNOWN
#undef CARD
};
enum { N_GPUS = sizeof gpus / sizeof *gpus };

static const struct Card {
  const char *tag, *row;
} cards[] = {
#define GPU(...)
#define CARD(tag, row) {tag, row},
#include "gpus.def"
#undef GPU
#undef CARD
};
enum { N_CARDS = sizeof cards / sizeof *cards };

const Gpu *tirc_gpu_number(int i) { return i >= 0 && i < N_GPUS ? &gpus[i] : NULL; }

bool tirc_gpu_card(int i, const char **tag, const char **row) {
  if (i < 0 || i >= N_CARDS) return false;
  *tag = cards[i].tag;
  *row = cards[i].row;
  return true;
}

static const struct Word {
  const char *word, *row, *hint;
} words[] = {
#define MEANS(word, row) {word, row, NULL},
#define ANSWER(word, hint) {word, NULL, hint},
#include "gpu_words.def"
#undef MEANS
#undef ANSWER
};
enum { N_WORDS = sizeof words / sizeof *words };

/* Whether two names differ in dashes and capitals alone. */
static bool is_alike(const char *a, const char *b) {
  for (;; a++, b++) {
    while (*a == '-' || *a == '_' || *a == ' ') a++;
    while (*b == '-' || *b == '_' || *b == ' ') b++;
    if (tirc_lower(*a) != tirc_lower(*b)) return false;
    if (!*a) return true;
  }
}

/* Of the card "nvidia/geforce-rtx-4090": "rtx4090", "4090", "nvidia/4090". */
static bool is_short_for(const char *name, const char *tag) {
  const char *of = strchr(tag, '/'), *slash = strchr(name, '/');
  if (slash && (slash - name != of - tag || strncmp(name, tag, (size_t)(of - tag)) != 0))
    return false;
  for (const char *at = of; at; at = strchr(at + 1, '-'))
    if (is_alike(slash ? slash + 1 : name, at + 1)) return true;
  return false;
}

static const char *row_of(const char *name) {
  for (int i = 0; i < N_CARDS; i++)
    if (!strcmp(cards[i].tag, name)) return cards[i].row;
  for (int i = 0; i < N_WORDS; i++)
    if (words[i].row && is_alike(words[i].word, name)) return words[i].row;
  for (int i = 0; i < N_CARDS; i++)
    if (is_short_for(name, cards[i].tag)) return cards[i].row;
  return name;
}

const Gpu *tirc_gpu_find(const char *name) {
  for (int i = 0; i < N_GPUS; i++)
    if (!strcmp(gpus[i].name, name)) return &gpus[i];
  name = row_of(name);
  for (int i = 0; i < N_GPUS; i++)
    if (!strcmp(gpus[i].name, name)) return &gpus[i];
  return NULL;
}

static const char *answer_to(const char *name) {
  for (int i = 0; i < N_WORDS; i++)
    if (words[i].hint && is_alike(words[i].word, name)) return words[i].hint;
  return !strncmp(name, "gfx", 3) ? answer_to("rocm") : NULL;
}

bool tirc_gpu_is_meant(const char *name) {
  return !strncmp(name, "sm_", 3) || !strncmp(name, "opencl", 6) || strchr(name, '/') ||
         answer_to(name);
}

_Noreturn void tirc_gpu_unknown(Tirc *c, const char *name) {
  const char *answer = answer_to(name);
  if (answer) tirc_fail(c, (Loc){0}, CODE_TARGET, answer, "there are no kernels for %s", name);
  Nearest best = {.wanted = name, .n_wanted = strlen(name)};
  for (int i = 0; i < N_GPUS; i++) tirc_offer_name(&best, gpus[i].name, strlen(gpus[i].name));
  for (int i = 0; i < N_CARDS; i++) tirc_offer_name(&best, cards[i].tag, strlen(cards[i].tag));
  const char *hint = tirc_suggest_name(&best, "", "--target=help lists all");
  tirc_fail(c, (Loc){0}, CODE_TARGET, tirc_strdup(c, hint),
            "%s is not the name of a GPU that kernels can be made for", name);
}
