/* `--ablate SCHED`: what each rule of a schedule is worth. A rule is a function of the script whose
 * name begins with rule_; it is left out by returning at its start, so the others run as they
 * would. */
#include "bench.h"
#include "tools/kit/input.h"

#include <errno.h>
#include <string.h>

static const char DEFINITION[] = "def rule_";

/* The next definition of a rule at the start of a line, from p on. */
static const char *find_rule(const char *text, const char *p) {
  while ((p = strstr(p, DEFINITION)) != NULL && p > text && p[-1] != '\n') p++;
  return p;
}

static size_t name_length(const char *rule) {
  return strcspn(rule + sizeof DEFINITION - 1, "( \n");
}

/* Where the rule's statements begin, on a line of their own; NULL when they do not. */
static const char *find_body(const char *rule) {
  const char *p = strstr(rule, "):");
  p = p ? p + 2 + strspn(p + 2, " \t\r") : NULL;
  p = p && (*p == '#' || *p == '\n') ? strchr(p, '\n') : NULL;
  return p && (p[1] == ' ' || p[1] == '\t') ? p + 1 : NULL;
}

/* The script with a return as the first statement of the rule. */
static char *leave_out(const char *text, const char *rule) {
  const char *body = find_body(rule);
  char *out = NULL;
  size_t size = 0;
  if (!body) return NULL;
  FILE *f = begin_text(&out, &size);
  fwrite(text, 1, (size_t)(body - text), f);
  fprintf(f, "%.*sreturn None\n%s", (int)strspn(body, " \t"), body, body);
  return end_text(f, &out);
}

const char *find_rule_named(const char *text, const char *name) {
  const char *r = text, *word = name + strlen("rule_");
  const size_t n = strlen(word);
  for (; (r = find_rule(text, r)) != NULL; r++)
    if (name_length(r) == n && strncmp(r + sizeof DEFINITION - 1, word, n) == 0) return r;
  return NULL;
}

char *script_without(const char *text, const char *name) {
  const char *rule = find_rule_named(text, name);
  return rule ? leave_out(text, rule) : NULL;
}

static Rule *rule_from(const char *script, const char *start) {
  Rule *rule = tirc_alloc(memory, sizeof *rule);
  *rule = (Rule){tirc_strndup(memory, start + sizeof DEFINITION - 1, name_length(start)), script,
                 start};
  return rule;
}

int plan_rules(Bench *b, const char *path) {
  const char *script = read_small_file(path);
  const int before = b->n_planned;
  if (!script) return complain(NULL, "cannot read '%s': %s", path, read_fault(errno));
  for (const char *r = script; (r = find_rule(script, r)) != NULL; r++) {
    const Rule *rule = rule_from(script, r);
    const char *text = leave_out(script, r);
    if (!text)
      return complain("write its statements below `def rule_name(...):`, indented",
                      "rule_%s of '%s' has no body on lines of its own", rule->name, path);
    *one_more(b->planned, b->n_planned) =
        (Contender){.name = tirc_format(memory, "-%s", rule->name),
                    .script = path,
                    .text = text,
                    .without = rule};
  }
  if (b->n_planned > before) return DONE;
  return complain("put what can be left out into functions: def rule_parallel(loop): ...",
                  "'%s' has no function whose name begins with rule_", path);
}

/* The rule that a line of the script without rule `out` is part of; NULL: of none. */
static const Rule *rule_at(const Rule *out, int line) {
  const char *found = NULL, *p = out->script;
  int n = 1, left_out_at = 0;
  for (const char *q = out->script; q < out->start; q++) left_out_at += *q == '\n';
  if (line > left_out_at + 2) line--; /* the return's */
  for (; *p && n < line; p++) n += *p == '\n';
  if (*p == '#' || (*p != ' ' && *p != '\t')) return NULL;
  for (const char *r = out->script; (r = find_rule(out->script, r)) && r < p; r++) found = r;
  return found ? rule_from(out->script, found) : NULL;
}

void keep_failure(Contender *c, const tirc_error *e) {
  const Rule *by = rule_at(c->without, tirc_error_line(e));
  char *text = tirc_format(memory, "needed by %s: %s", by ? by->name : "the script itself",
                           tirc_error_message(e));
  c->f.code = strdup(tirc_error_get(e, TIRC_ERROR_CODE));
  c->f.message = strdup(text);
}

static void print_rule(const Bench *b, int threads, int i) {
  const Rule *rule = b->cases[0].contenders[i].without;
  const char *failure = NULL;
  char interval[INTERVAL_TEXT];
  Lowest lowest, highest;
  tirc_ratio worth = mean_ratio(b, NULL, threads, 0, i, &lowest);
  (void)mean_ratio(b, NULL, threads, i, 0, &highest);
  for (int j = 0; j < b->n_measured && !failure; j++)
    if (b->cases[j].at.threads == threads) failure = b->cases[j].contenders[i].f.message;
  fprintf(b->out, "%-22s ", rule->name);
  if (worth.value > 0) {
    fprintf(b->out, "%7.2f  %s", worth.value, interval_text(interval, 5, 2, worth.low, worth.high));
    if (lowest.at != highest.at)
      fprintf(b->out, "  %6.2f at %s, %.2f at %s", lowest.ratio, lowest.at->at.setting,
              1 / highest.ratio, highest.at->at.setting);
  }
  fprintf(b->out, "%s%s\n", worth.value > 0 && failure ? "; elsewhere " : "",
          failure ? failure : "");
}

void print_ablation(const Bench *b) {
  if (!b->n_measured) return;
  const bool several = b->n_measured > b->n_threads;
  for (int t = 0; t < b->n_threads; t++) {
    fprintf(
        b->out,
        "\nWhat each rule of %s is worth on %d thread%s: the time without it over the time with "
        "all\n%-22s %7s  %14s%s\n",
        b->cases[0].contenders[0].name, b->threads[t].threads, plural(b->threads[t].threads),
        "rule", "x", "95%", several ? "  lowest and highest" : "");
    for (int i = 1; i < b->cases[0].n_contenders; i++)
      if (b->cases[0].contenders[i].without) print_rule(b, b->threads[t].threads, i);
  }
}
