/* The files of the cache. */
#define _GNU_SOURCE
#include "cache.h"

#include "ir/user_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* Each is bounded by its part of the limit, so that keeping an entry looks at few others. */
enum { SHELVES = 16 };
/* The key and the object follow, each filled up to a multiple of this struct's alignment. */
typedef struct Head {
  char magic[16];
  uint64_t key, object; /* bytes of each */
  uint64_t sum;         /* of all that follows */
} Head;
static const char magic[16] = "tirc code 1\n";

typedef struct Path {
  char s[4000];
} Path;

/* Of whole words: entries are read on every start, and bytes one by one take longer than the disk.
 */
static uint64_t sum_of(const char *bytes, size_t n) {
  uint64_t sum = n, word;
  for (size_t i = 0; i < n; i += sizeof word) {
    word = 0;
    memcpy(&word, bytes + i, n - i < sizeof word ? n - i : sizeof word);
    sum = (sum ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    sum ^= sum >> 32;
  }
  return sum;
}

static uint64_t rounded(uint64_t n) { return (n + 15) / 16 * 16; }

CodeCache tirc_cache_open(void) {
  CodeCache k = {.limit = (int64_t)CACHE_USUAL_MB << 20};
  const char *set = getenv("TIRC_CACHE"), *caches = getenv("XDG_CACHE_HOME"),
             *home = getenv("HOME"), *limit = getenv("TIRC_CACHE_MB");
  int n = 0;
  if (set && *set)
    n = strcmp(set, "off") == 0 ? 0 : snprintf(k.folder, sizeof k.folder, "%s", set);
  else if (caches && *caches == '/')
    n = snprintf(k.folder, sizeof k.folder, "%s/tirc", caches);
  else if (home && *home)
    n = snprintf(k.folder, sizeof k.folder, "%s/.cache/tirc", home);
  k.is_too_long = n < 0 || n >= (int)sizeof k.folder;
  if (k.is_too_long) *k.folder = 0;
  if (limit && *limit) {
    char *end;
    errno = 0;
    const long long mb = strtoll(limit, &end, 10);
    k.is_limit_bad = errno || *end || mb < 1 || mb > INT64_MAX >> 20;
    if (!k.is_limit_bad) k.limit = (int64_t)mb << 20;
  }
  return k;
}

static Path shelf(const CodeCache *k, unsigned number) {
  Path p;
  snprintf(p.s, sizeof p.s, "%s/code/%x", k->folder, number);
  return p;
}

uint64_t tirc_cache_sum(const char *key) { return sum_of(key, strlen(key)); }

static unsigned shelf_of(const char *key) { return (unsigned)(tirc_cache_sum(key) >> 60); }

static Path entry(const CodeCache *k, const char *key) {
  Path p = shelf(k, shelf_of(key));
  const size_t n = strlen(p.s);
  snprintf(p.s + n, sizeof p.s - n, "/%016llx", (unsigned long long)tirc_cache_sum(key));
  return p;
}

/* Code is run as it lies there, so nobody else may have put it there. */
static bool is_trusted(const char *folder) {
  struct stat s;
  return stat(folder, &s) == 0 && (s.st_uid == geteuid() || s.st_uid == 0) &&
         !(s.st_mode & (S_IWGRP | S_IWOTH));
}

/* --- reading ---------------------------------------------------------------------------------- */

static bool read_all(int file, char *to, size_t n) {
  while (n > 0) {
    const ssize_t got = read(file, to, n);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    to += got;
    n -= (size_t)got;
  }
  return true;
}

static bool is_whole(const char *bytes, size_t n) {
  Head h;
  if (n < sizeof h) return false;
  memcpy(&h, bytes, sizeof h);
  return memcmp(h.magic, magic, sizeof magic) == 0 && h.key < n && h.object < n &&
         sizeof h + rounded(h.key) + h.object == n &&
         h.sum == sum_of(bytes + sizeof h, n - sizeof h);
}

static Kept open_entry(char *bytes, const char *key) {
  Head h;
  memcpy(&h, bytes, sizeof h);
  if (h.key != strlen(key) || memcmp(bytes + sizeof h, key, h.key) != 0) return (Kept){0};
  return (Kept){bytes, bytes + sizeof h + rounded(h.key), h.object, false};
}

Kept tirc_cache_find(const CodeCache *k, const char *key) {
  if (!*k->folder) return (Kept){0};
  const Path path = entry(k, key);
  const int file = open(path.s, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a pipe would wait */
  if (file < 0) return (Kept){0};
  struct stat s;
  Kept found = {0};
  char *bytes = NULL;
  if (fstat(file, &s) == 0 && S_ISREG(s.st_mode) && is_trusted(k->folder)) {
    const size_t n = (size_t)s.st_size;
    bytes = malloc(n + 1);
    if (bytes && read_all(file, bytes, n) && is_whole(bytes, n))
      found = open_entry(bytes, key);
    else if (bytes)
      found.was_damaged = unlink(path.s) == 0;
  }
  if (found.bytes)
    futimens(file, NULL); /* it was used now */
  else
    free(bytes);
  close(file);
  return found;
}

/* --- writing ---------------------------------------------------------------------------------- */

/* Of a folder's path, the folder, too. */
static void make_folders(const char *path) {
  char with_slash[sizeof(Path) + 1];
  snprintf(with_slash, sizeof with_slash, "%s/", path);
  tirc_make_folders(with_slash);
}

static bool write_all(int file, const void *bytes, size_t n) {
  const char *at = bytes;
  while (n > 0) {
    const ssize_t put = write(file, at, n);
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) return false;
    at += put;
    n -= (size_t)put;
  }
  return true;
}

/* Whether a file may have so many bytes: what writes more is ended by a signal. */
static bool may_write(size_t n) {
  struct rlimit most;
  return getrlimit(RLIMIT_FSIZE, &most) || most.rlim_cur == RLIM_INFINITY || most.rlim_cur >= n;
}

/* A new file in the folder, whose path is filled in; -1: errno says why. */
static int new_file(const char *folder, Path *path) {
  const int n = snprintf(path->s, sizeof path->s, "%s/new-XXXXXX", folder);
  if (n > 0 && n < (int)sizeof path->s) return mkostemp(path->s, O_CLOEXEC);
  errno = ENAMETOOLONG;
  return -1;
}

typedef struct Item {
  int64_t bytes;
  struct timespec used;
  char name[32];
} Item;
typedef struct Items {
  Item *at; /* of the heap */
  int n, room;
  int64_t bytes;
} Items;

static void add_item(Items *all, const char *name, const struct stat *s) {
  if (all->n == all->room) {
    const int room = 2 * all->room + 64;
    Item *grown = realloc(all->at, (size_t)room * sizeof *grown);
    if (!grown) return;
    all->at = grown;
    all->room = room;
  }
  Item *item = &all->at[all->n++];
  *item = (Item){(int64_t)s->st_size, s->st_mtim, ""};
  memcpy(item->name, name, strlen(name) + 1);
  all->bytes += item->bytes;
}

/* The files of a shelf, half-written ones, too. */
static Items list(const char *folder) {
  Items all = {0};
  DIR *d = opendir(folder);
  for (const struct dirent *e; d && (e = readdir(d)) != NULL;) {
    struct stat s;
    if (strlen(e->d_name) < sizeof((Item *)0)->name &&
        fstatat(dirfd(d), e->d_name, &s, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(s.st_mode))
      add_item(&all, e->d_name, &s);
  }
  if (d) closedir(d);
  return all;
}

static int by_age(const void *a, const void *b) {
  const Item *x = a, *y = b;
  if (x->used.tv_sec != y->used.tv_sec) return x->used.tv_sec < y->used.tv_sec ? -1 : 1;
  if (x->used.tv_nsec != y->used.tv_nsec) return x->used.tv_nsec < y->used.tv_nsec ? -1 : 1;
  return strcmp(x->name, y->name);
}

static int remove_item(const char *folder, const Item *item) {
  Path p;
  const int n = snprintf(p.s, sizeof p.s, "%s/%s", folder, item->name);
  if (n < 0 || n >= (int)sizeof p.s) return ENAMETOOLONG;
  return unlink(p.s) && errno != ENOENT ? errno : 0;
}

/* The shelf fits its part again. Files that a process has left half-written are old one day. */
static void trim(const char *folder, int64_t limit) {
  Items all = list(folder);
  if (all.bytes > limit && all.n > 0) qsort(all.at, (size_t)all.n, sizeof *all.at, by_age);
  for (int i = 0; i < all.n && all.bytes > limit; i++)
    if (!remove_item(folder, &all.at[i])) all.bytes -= all.at[i].bytes;
  free(all.at);
}

static bool write_entry(int file, const char *key, const char *object, size_t n) {
  Head h = {.key = strlen(key), .object = n};
  const size_t bytes = rounded(h.key) + n;
  char *rest = calloc(1, bytes + 1);
  if (!rest) return false;
  memcpy(h.magic, magic, sizeof magic);
  memcpy(rest, key, h.key);
  memcpy(rest + rounded(h.key), object, n);
  h.sum = sum_of(rest, bytes);
  const bool ok = write_all(file, &h, sizeof h) && write_all(file, rest, bytes);
  free(rest);
  return ok;
}

void tirc_cache_keep(const CodeCache *k, const char *key, const char *object, size_t n) {
  const int64_t limit = k->limit / SHELVES;
  const size_t bytes = sizeof(Head) + rounded(strlen(key)) + n;
  if (!*k->folder || (int64_t)bytes > limit || !may_write(bytes)) return;
  const Path folder = shelf(k, shelf_of(key)), path = entry(k, key);
  Path made;
  int file = new_file(folder.s, &made);
  if (file < 0 && errno == ENOENT) {
    make_folders(folder.s);
    file = new_file(folder.s, &made);
  }
  if (file < 0) return;
  bool ok = is_trusted(k->folder) && write_entry(file, key, object, n);
  ok = close(file) == 0 && ok;
  if (!ok || rename(made.s, path.s)) unlink(made.s);
  if (ok) trim(folder.s, limit);
}

/* --- what there is ---------------------------------------------------------------------------- */

void tirc_cache_count(const CodeCache *k, int64_t *entries, int64_t *bytes) {
  *entries = *bytes = 0;
  for (unsigned i = 0; *k->folder && i < SHELVES; i++) {
    Items all = list(shelf(k, i).s);
    *entries += all.n;
    *bytes += all.bytes;
    free(all.at);
  }
}

int tirc_cache_problem(const CodeCache *k) {
  enum { AN_ENTRY = 1 << 20 };
  const Path folder = shelf(k, 0);
  Path made;
  if (!*k->folder) return k->is_too_long ? ENAMETOOLONG : ENOENT;
  if (!may_write(AN_ENTRY)) return EFBIG;
  int file = new_file(folder.s, &made);
  if (file < 0 && errno == ENOENT) {
    make_folders(folder.s);
    file = new_file(folder.s, &made);
  }
  if (file < 0) return errno;
  const int wrong = write_all(file, magic, sizeof magic) ? 0 : errno;
  close(file);
  unlink(made.s);
  return wrong ? wrong : is_trusted(k->folder) ? 0 : EPERM;
}

int tirc_cache_clear(const CodeCache *k) {
  int wrong = 0;
  for (unsigned i = 0; *k->folder && i < SHELVES; i++) {
    const Path folder = shelf(k, i);
    Items all = list(folder.s);
    for (int n = 0; n < all.n; n++) {
      const int w = remove_item(folder.s, &all.at[n]);
      wrong = wrong ? wrong : w;
    }
    free(all.at);
  }
  return wrong;
}
