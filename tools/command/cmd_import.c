#include "command.h"
#include "tools/kit/model.h"

#include <string.h>

/* What is made of weights alone, as --quantize makes integers, is made now where weights are
 * written: these are it. */
static int make_weights(const ImportOptions *o, tirc_module **m, tirc_weights **w) {
  tirc_module *made = NULL;
  tirc_weights *others = NULL;
  tirc_error *e = NULL;
  if (!o->weights || !*m || !*w) return DONE;
  if (tirc_module_make_weights(*m, *w, 0, &made, &others, &e)) return report(e);
  if (!made) return DONE;
  tirc_module_free(*m);
  tirc_weights_close(*w);
  *m = made;
  *w = others;
  return DONE;
}

int cmd_import(ImportOptions *o) {
  const List *args = &o->from.args;
  tirc_module *m = NULL, *rewritten = NULL;
  tirc_weights *w = NULL;
  tirc_error *e = NULL;
  char *text = NULL;
  if (!is_onnx(args->at[0]))
    return complain("programs of tirc need no import",
                    "'%s' is not a file of ONNX: its name does not end with .onnx", args->at[0]);
  int status = check_output(o->from.output);
  if (status == DONE) status = check_output(o->weights);
  if (status == DONE) status = load_program(&o->from, args->at[0], &m);
  if (status == DONE && tirc_module_weights(m, &w, &e)) status = report(e);
  if (status == DONE) status = rewrite_weights(&o->from, m, &rewritten);
  if (status == DONE) status = make_weights(o, &rewritten, &w);
  if (status == DONE && tirc_module_print(rewritten ? rewritten : m, &text, &e)) status = report(e);
  if (status == DONE && o->weights && tirc_weights_save(w, o->weights, &e)) status = report(e);
  if (status == DONE) status = write_output(o->from.output, text, strlen(text));
  tirc_string_free(text);
  tirc_weights_close(w);
  tirc_module_free(rewritten);
  tirc_module_free(m);
  return status;
}
