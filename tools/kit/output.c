/* Files that a command writes, with errors reported. */
#include "kit.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

int check_output(const char *path) {
  if (can_begin_file(path)) return DONE;
  return complain(NULL, "cannot write '%s': %s", path, strerror(errno));
}

int write_output(const char *path, const char *bytes, size_t n) {
  NewFile to = begin_file(path);
  if (to.f) (void)fwrite(bytes, 1, n, to.f);
  return end_output(path, &to, DONE);
}

int end_output(const char *path, NewFile *to, int status) {
  const char *name = output_name(path);
  if (to->f && status != DONE) {
    drop_file(to);
    return status;
  }
  return end_file(to) ? DONE : complain(NULL, "cannot write '%s': %s", name, strerror(errno));
}

int write_into_folder(const char *folder, const char *name, const char *text) {
  char *path = tirc_format(memory, "%s/%s", folder, name);
  FILE *f = fopen(path, "wx"); /* an exercise that was begun is not lost */
  if (!f)
    return complain(errno == EEXIST ? "give another folder, or remove the file" : NULL,
                    "cannot write '%s': %s", path, strerror(errno));
  bool ok = fputs(text, f) >= 0;
  ok = fclose(f) == 0 && ok;
  if (!ok) return complain(NULL, "cannot write '%s': %s", path, strerror(errno));
  printf("%s\n", path);
  return DONE;
}

int make_folder(const char *folder) {
  if (mkdir(folder, 0777) == 0 || errno == EEXIST) return DONE;
  return complain(NULL, "cannot make the folder '%s': %s", folder, strerror(errno));
}
