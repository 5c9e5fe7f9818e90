/* `tirc lesson`: the exercises of the lessons, or of a course in a folder: lists and shows them,
 * writes their files, checks what is handed in. */
#include "ir/ascii.h"
#include "lesson.h"
#include "tools/step/step.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* --- showing ---------------------------------------------------------------------------------- */

static void list_exercises(const Course *c) {
  for (int i = 0; i < c->n; i++) {
    size_t n;
    const char *title = title_of(c->at[i].page, &n);
    printf("  %2d  %.*s\n", i + 1, (int)n, title);
  }
}

static void list_lessons(void) {
  puts("Lessons on schedules, one after the other:\n");
  list_exercises(lessons());
  puts("\n`tirc lesson 1` shows the first, `tirc lesson 1 --write FOLDER` writes its files, and\n"
       "`tirc lesson 1 FOLDER/exercise.sch` says what is missing in yours.");
}

static void show_course(const Course *c, const char *folder) {
  put_text(stdout, 0, speech.colour_out, c->page);
  puts("");
  list_exercises(c);
  printf(
      "\n`tirc lesson %s 1` shows the first, and `tirc lesson %s 1 FILE` says what is missing in\n"
      "FILE. `--write MINE` writes the files of all of them into a folder MINE.\n",
      folder, folder);
}

static int show_hint(const LessonOptions *o, const Exercise *x) {
  const long wanted = *o->hint ? strtol(o->hint, NULL, 10) : 1;
  size_t n = 0;
  const char *hint = wanted > 0 && wanted < 1000 ? hint_of(x, (int)wanted - 1, &n) : NULL;
  if (!hint && !hint_of(x, 0, &n)) return complain(NULL, "'%s' has no hints", x->name);
  if (!hint) return complain("--hint=1 is the first", "'%s' has no hint %s", x->name, o->hint);
  put_text(stdout, 0, speech.colour_out, tirc_strndup(memory, hint, n));
  if (hint_of(x, (int)wanted, &n)) printf("\nThere is another one: --hint=%ld.\n", wanted + 1);
  return DONE;
}

/* What each call of the solution does. */
static int show_solution(const Exercise *x) {
  Prepared g = {0};
  tirc_steps *s = NULL;
  tirc_error *e = NULL;
  if (!x->solution) return complain(NULL, "'%s' comes without a solution", x->name);
  int status = prepare_exercise(x, &g);
  const char *script = status == DONE ? exercise_script(&g, x->solution) : NULL;
  if (script &&
      tirc_module_steps_text(g.program, script, strlen(script), "solution.sch", NULL, &s, &e))
    status = report(e);
  if (status == DONE) {
    StepChoice choice = {.n = tirc_steps_count(s)};
    choice.shown = tirc_alloc_array(memory, (size_t)choice.n + 1, sizeof *choice.shown);
    for (int i = 0; i < choice.n; i++) choice.shown[i] = true;
    status = print_steps(s, &choice);
  }
  tirc_steps_free(s);
  free_prepared(&g);
  return status;
}

/* --- files ------------------------------------------------------------------------------------ */

static int write_exercise(const char *folder, const Exercise *x) {
  int status = make_folder(folder);
  for (int i = 0; i < n_exercise_files && status == DONE; i++) {
    const char *text = exercise_text(x, i);
    if (text && exercise_files[i].is_for_learners)
      status = write_into_folder(folder, exercise_files[i].name, text);
  }
  return status;
}

static int write_course(const char *folder, const Course *c) {
  int status = make_folder(folder);
  for (int i = 0; i < c->n && status == DONE; i++)
    status = write_exercise(tirc_format(memory, "%s/%s", folder, c->at[i].name), &c->at[i]);
  return status;
}

/* --- checking --------------------------------------------------------------------------------- */

static void say(const Remark *f) {
  bool colour = speech.colour_out;
  printf("%s%-8s%s ", colour ? (f->ok ? GREEN : YELLOW) : "", f->ok ? "ok" : "not yet",
         colour ? RESET : "");
  if (is_wrapped(stdout))
    put_wrapped(stdout, 9, 9, f->text);
  else
    puts(f->text);
}

static void print_verdict(const Outcome *v) {
  for (int i = 0; i < v->n; i++) say(&v->at[i]);
  if (v->error) show_error(v->error);
}

/* Written at once, so that what was checked before a crash or Ctrl-C is there. */
static void print_record(const Exercise *x, const char *path, const Outcome *v) {
  Json *j = json_object_new_object(), *verdict = outcome_as_json(v);
  add_text(j, "lesson", x->name);
  add_text(j, "file", path);
  json_object_object_foreach(verdict, key, value) add_json(j, key, json_object_get(value));
  json_object_put(verdict);
  puts(json_string(j, false));
  fflush(stdout);
}

/* The worst status of all files; one that cannot be read does not stop the others. */
static int check_all(const LessonOptions *o, const Exercise *x, const List *files) {
  const CheckOptions how = {
      .threads = o->threads, .run = run_compiled, .ratio = o->no_timing ? NULL : measure_ratio};
  const bool many = files->n > 1 && !o->as_json;
  int counts[BAD + 1] = {0};
  Prepared g = {0};
  int worst = prepare_exercise(x, &g);
  for (int i = 0; i < files->n && g.args; i++) {
    if (many) {
      printf("%s%s:\n", i ? "\n" : "", shown_name(files->at[i]));
      fflush(stdout);
    }
    const Outcome v = check_exercise(&g, (Attempted){.path = files->at[i]}, &how);
    if (o->as_json)
      print_record(x, files->at[i], &v);
    else
      print_verdict(&v);
    tirc_error_free(v.error);
    counts[v.status]++;
    if (v.status > worst) worst = v.status;
  }
  if (many && g.args)
    printf("\nOf %d files, %d %s done, %d %s not done yet, and %d %s an error.\n", files->n,
           counts[DONE], counts[DONE] == 1 ? "is" : "are", counts[NO],
           counts[NO] == 1 ? "is" : "are", counts[BAD], counts[BAD] == 1 ? "has" : "have");
  free_prepared(&g);
  return worst;
}

/* --- what is asked for ------------------------------------------------------------------------ */

static bool is_folder(const char *path) {
  struct stat s;
  return stat(path, &s) == 0 && S_ISDIR(s.st_mode);
}

/* The exercise whose name is that of the file, or of a folder around it; -1: none. */
static int exercise_of_file(const Course *c, const char *path) {
  char *rest = copied(path);
  const char *stem = path_stem(path);
  for (char *part = strtok(rest, "/"); part; part = strtok(NULL, "/")) {
    const int i = tirc_is_digit(*part) && strchr(part, '-') ? find_exercise(c, part) : -1;
    if (i >= 0) return i;
  }
  const int i = strchr(stem, '-') ? find_exercise(c, stem) : -1;
  return i < 0 && c->n == 1 ? 0 : i;
}

static int for_exercise(const LessonOptions *o, const Exercise *x, int first_file) {
  List files = {0};
  for (int i = first_file; i < o->args.n; i++)
    if (!find_hand_ins(o->args.at[i], &files)) return BAD;
  if (files.n) return check_all(o, x, &files);
  if (o->as_json)
    return complain("add the files of the exercise", "--json prints results of exercises");
  if (o->write) return write_exercise(o->write, x);
  if (o->hint) return show_hint(o, x);
  if (o->solution) return show_solution(x);
  put_text(stdout, 0, speech.colour_out, x->page);
  return DONE;
}

static int for_course(const LessonOptions *o, const Course *c) {
  const char *word = o->args.n > 1 ? o->args.at[1] : NULL;
  if (o->pack) return pack_course(o, c);
  if (o->verify) return verify_results(o, c);
  if (o->result) return print_result(o, c);
  const int i = word ? find_exercise(c, word) : -1;
  if (i >= 0) return for_exercise(o, &c->at[i], 2);
  if (word && o->args.n == 2 && strspn(word, "0123456789") < strlen(word)) {
    const int of = exercise_of_file(c, word);
    if (of >= 0) return for_exercise(o, &c->at[of], 1);
    return complain("tirc lesson FOLDER N FILE", "which exercise is '%s' of?", word);
  }
  if (word)
    return complain(tirc_format(memory, "`tirc lesson %s` lists them", o->args.at[0]),
                    "there is no exercise '%s'", word);
  if (o->write) return write_course(o->write, c);
  show_course(c, o->args.at[0]);
  return DONE;
}

int cmd_lesson(LessonOptions *o) {
  const Course *all = lessons();
  Course course;
  if (o->args.n == 0) {
    if (o->pack || o->verify || o->result)
      return complain("give the folder of the course", "usage: tirc lesson FOLDER");
    list_lessons();
    return DONE;
  }
  const char *word = o->args.at[0];
  const int i = find_exercise(all, word);
  if (i >= 0 && strspn(word, "0123456789") == strlen(word)) return for_exercise(o, &all->at[i], 1);
  if (!is_folder(word))
    return complain("`tirc lesson` lists them; a course is a folder", "there is no lesson '%s'",
                    word);
  return read_course(word, &course) == DONE ? for_course(o, &course) : BAD;
}
