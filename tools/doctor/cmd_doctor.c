/* `tirc doctor`: what the machine and the installation are like, what is amiss, and what to do. */
#include "doctor.h"

#include <json-c/json.h>
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

static void print_json(const Doctor *d) {
  struct json_object *all = json_object_new_object(), *list = json_object_new_array();
  json_object_object_add(all, "tirc", json_object_new_string(tirc_version()));
  for (int i = 0; i < d->n; i++) {
    const Finding *f = &d->at[i];
    struct json_object *j = json_object_new_object();
    json_object_object_add(j, "group", json_object_new_string(f->group));
    json_object_object_add(j, "name", json_object_new_string(f->name));
    json_object_object_add(j, "value", json_text(f->value));
    json_object_object_add(j, "health", json_object_new_string(health_words[f->health]));
    json_object_object_add(j, "advice", *f->advice ? json_text(f->advice) : NULL);
    json_object_array_add(list, j);
  }
  json_object_object_add(all, "findings", list);
  json_object_object_add(all, "amiss", json_object_new_int(count(d, AMISS)));
  json_object_object_add(all, "broken", json_object_new_int(count(d, BROKEN)));
  puts(json_object_to_json_string_ext(all,
                                      JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_NOSLASHESCAPE));
  json_object_put(all);
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
  examine_machine(&d);
  examine_software(&d);
  if (o->self_test) climb_ladder(&d);
  if (o->asked.as_json)
    print_json(&d);
  else
    print_text(&d);
  return d.status != DONE ? d.status : count(&d, BROKEN) ? NO : DONE;
}
