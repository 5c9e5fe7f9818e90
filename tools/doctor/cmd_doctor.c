/* `tirc doctor`: what the machine and the installation are like, what is amiss, and what to do. */
#include "doctor.h"
#include "tools/kit/json.h"

#include <stdarg.h>
#include <string.h>

void note(Doctor *d, const char *group, const char *name, const char *format, ...) {
  if (d->n == sizeof d->at / sizeof *d->at) d->n--;
  Finding *f = &d->at[d->n++];
  *f = (Finding){.group = group, .name = name};
  va_list args;
  va_start(args, format);
  vsnprintf(f->value, sizeof f->value, format, args);
  va_end(args);
}

void advise(Doctor *d, Health health, const char *advice) {
  Finding *f = &d->at[d->n - 1];
  f->health = health;
  snprintf(f->advice, sizeof f->advice, "%s", advice);
}

static int count(const Doctor *d, Health health) {
  int n = 0;
  for (int i = 0; i < d->n; i++) n += d->at[i].health == health;
  return n;
}

static const char *const health_words[] = {"fine", "amiss", "broken"};

static int print_json(const Doctor *d) {
  Json *all = json_object_new_object(), *list = json_object_new_array();
  add_json(all, "tirc", json_object_new_string(tirc_version()));
  for (int i = 0; i < d->n; i++) {
    const Finding *f = &d->at[i];
    Json *j = json_object_new_object();
    add_json(j, "group", json_object_new_string(f->group));
    add_json(j, "name", json_object_new_string(f->name));
    add_text(j, "value", f->value);
    add_json(j, "health", json_object_new_string(health_words[f->health]));
    add_json(j, "advice", *f->advice ? json_text(f->advice) : NULL);
    json_object_array_add(list, j);
  }
  add_json(all, "findings", list);
  add_int(all, "amiss", count(d, AMISS));
  add_int(all, "broken", count(d, BROKEN));
  return write_json(NULL, all, false);
}

static void print_finding(const Finding *f) {
  enum { NAME = 22 };
  static const char *const marks[] = {" ", "!", "x"};
  const char *colours[] = {"", YELLOW, RED};
  printf("%s%s %-*s%s%s", speech.colour_out ? colours[f->health] : "", marks[f->health], NAME,
         f->name, speech.colour_out && f->health ? RESET : "", "");
  put_clean(stdout, f->value, strlen(f->value));
  putchar('\n');
  if (!*f->advice) return;
  printf("%*s-> ", NAME + 2, "");
  put_clean(stdout, f->advice, strlen(f->advice));
  putchar('\n');
}

static void print_text(const Doctor *d) {
  const char *group = "";
  for (int i = 0; i < d->n; i++) {
    if (strcmp(group, d->at[i].group) != 0) printf("%s%s\n", i ? "\n" : "", d->at[i].group);
    group = d->at[i].group;
    print_finding(&d->at[i]);
  }
  const int amiss = count(d, AMISS), broken = count(d, BROKEN);
  if (!amiss && !broken)
    printf("\nAll is well.\n");
  else
    printf("\n%d thing%s broken, %d could be better: see the lines with ->\n", broken,
           broken == 1 ? " is" : "s are", amiss);
}

int cmd_doctor(DoctorOptions *o) {
  Doctor d = {.o = o};
  if (o->asked.output && !o->self_test)
    return complain("tirc doctor --self-test -o FILE", "-o is for what --self-test compiles");
  if (check_output(o->asked.output) != DONE) return BAD;
  examine_machine(&d);
  examine_software(&d);
  if (o->self_test) climb_ladder(&d);
  if (o->asked.as_json && print_json(&d) != DONE) d.status = BAD;
  if (!o->asked.as_json) print_text(&d);
  return d.status != DONE ? d.status : count(&d, BROKEN) ? NO : DONE;
}
