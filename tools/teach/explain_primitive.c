/* What `tirc help split` shows: signature, parameters, an example, preconditions, errors. The
 * example is run: what is shown after it is what the primitive makes. */
#include "ir/dialect.h"
#include "teach.h"

#include <string.h>

void print_signature(int i) {
  tirc_primitive_info p;
  const char *name, *value;
  if (!tirc_primitive_table(i, &p)) return;
  printf("%s(", p.name);
  for (int k = 0; tirc_primitive_param(i, k, &name, &value); k++)
    printf("%s%s%s%s%s%s", k ? ", " : "", k == p.keyword_only ? "*, " : "", k == p.star ? "*" : "",
           name, value ? "=" : "", value ? value : "");
  putchar(')');
}

static bool starts_with(const char *s, const char *prefix) {
  return strncmp(s, prefix, strlen(prefix)) == 0;
}

static bool declares_regions(const char *line) {
  return starts_with(line, "T.reads(") || starts_with(line, "T.writes(");
}

static bool is_same_program(const char *a, const char *b) {
  tirc_module *m = NULL, *other = NULL;
  char *difference = NULL;
  bool same = tirc_module_parse(a, strlen(a), "example", 0, NULL, &m, NULL) == TIRC_OK &&
              tirc_module_parse(b, strlen(b), "example", 0, NULL, &other, NULL) == TIRC_OK &&
              tirc_module_compare(m, other, &difference, NULL) == TIRC_OK && !difference;
  tirc_string_free(difference);
  tirc_module_free(m);
  tirc_module_free(other);
  return same;
}

/* Without the regions that would be inferred from what the block does; what is left is the same
 * program. */
static char *without_inferred_regions(const char *text) {
  char *kept = tirc_strdup(memory, text);
  for (size_t at = 0; kept && kept[at];) {
    size_t n = strcspn(kept + at, "\n");
    n += kept[at + n] != 0;
    char *shorter =
        declares_regions(kept + at + strspn(kept + at, " ")) ? tirc_strdup(memory, kept) : NULL;
    if (shorter) memmove(shorter + at, shorter + at + n, strlen(shorter + at + n) + 1);
    if (shorter && is_same_program(kept, shorter)) {
      kept = shorter;
    } else {
      at += n;
    }
  }
  return kept;
}

void print_nest(const char *text) {
  char *kept = without_inferred_regions(text);
  bool first = true;
  if (kept) text = kept;
  for (const char *end; *text; text = *end ? end + 1 : end) {
    end = text + strcspn(text, "\n");
    const char *line = text + strspn(text, " ");
    if (line == end || starts_with(line, "# from ") || starts_with(line, "# with ")) continue;
    printf("%s    %.*s\n", *line == '@' && !first ? "\n" : "", (int)(end - text), text);
    first = false;
  }
}

static void print_module(const tirc_module *m) {
  char *text = NULL;
  if (tirc_module_print(m, &text, NULL) == TIRC_OK) print_nest(text);
  tirc_string_free(text);
}

static void print_lines(const char *prefix, const char *text) {
  for (const char *end; *text; text = *end ? end + 1 : end) {
    end = text + strcspn(text, "\n");
    printf("%s%.*s\n", prefix, (int)(end - text), text);
  }
}

static void print_output(void *self, const char *text) {
  (void)self;
  print_lines("    prints: ", text);
}

/* The program, the script, and the program that it makes of it, if that is another one. */
static void print_example(const tirc_primitive_doc *d) {
  tirc_module *before = NULL, *after = NULL;
  tirc_error *e = NULL;
  char *difference = NULL;
  tirc_schedule_options s = {.print = print_output};
  puts("\nExample:");
  tirc_status status =
      tirc_module_parse(d->program, strlen(d->program), "example", 0, NULL, &before, &e);
  if (status == TIRC_OK) print_module(before);
  putchar('\n');
  print_lines("  ", d->script);
  if (status == TIRC_OK)
    status =
        tirc_module_schedule_text(before, d->script, strlen(d->script), "example", &s, &after, &e);
  if (status == TIRC_OK) status = tirc_module_compare(before, after, &difference, &e);
  if (status == TIRC_OK && difference) {
    putchar('\n');
    print_module(after);
  }
  if (status != TIRC_OK) printf("    fails: %s\n", e ? tirc_error_message(e) : "out of memory");
  tirc_string_free(difference);
  tirc_error_free(e);
  tirc_module_free(before);
  tirc_module_free(after);
}

static void print_documentation(int i, const tirc_primitive_doc *d) {
  const char *name, *value;
  for (int k = 0; d->params[k] && tirc_primitive_param(i, k, &name, &value); k++) {
    if (!k) puts("\nParameters:");
    print_row(name, d->params[k]);
  }
  if (d->returns) printf("\nReturns %s.\n", d->returns);
  print_example(d);
  for (int k = 0; d->needs[k]; k++) {
    printf("%s  - ", k ? "" : "\nNeeds:\n");
    print_wrapped(4, d->needs[k]);
  }
}

static bool is_own(const tirc_primitive_doc *d, int error) {
  for (int i = 0; d->errors[i] >= 0; i++)
    if (d->errors[i] == error) return true;
  return false;
}

/* Its own errors as it checks for them, then those of its parameters. */
static void print_errors(int i, const tirc_primitive_doc *d) {
  tirc_error_info e;
  bool any = false;
  for (int k = 0; d->errors[k] >= 0 && tirc_error_table(d->errors[k], &e); k++) {
    if (!any) puts("\nErrors:");
    print_row(e.code, e.title);
    any = true;
  }
  for (int k = 0; tirc_error_table(k, &e); k++) {
    if (!tirc_primitive_raises(i, k) || is_own(d, k)) continue;
    if (!any) puts("\nErrors:");
    print_row(e.code, e.title);
    any = true;
  }
}

bool explain_primitive(const char *name) {
  tirc_primitive_info p;
  tirc_primitive_doc d;
  name = tirc_word_known(WORD_METHOD, name);
  for (int i = 0; tirc_primitive_table(i, &p); i++) {
    if (!same_name(p.name, name)) continue;
    printf("sch.");
    print_signature(i);
    printf("\n    ");
    print_wrapped(4, p.help);
    if (!tirc_primitive_documentation(i, &d)) return true;
    print_documentation(i, &d);
    print_errors(i, &d);
    return true;
  }
  return false;
}

void print_primitives_as_markdown(void) {
  tirc_primitive_info p;
  puts("| primitive | |\n|---|---|");
  for (int i = 0; tirc_primitive_table(i, &p); i++) {
    printf("| `");
    print_signature(i);
    printf("` | %s |\n", p.help);
  }
}
