/* A program that runs a model: it reads an ONNX or text file, compiles it, and passes arrays to it.
 *
 *     cc model.c $(pkg-config --cflags --libs tirc) -o model && ./model FILE.onnx
 *     ./model FILE.tir WEIGHTS.safetensors
 *
 * It shows these parts of the header, in order: reading, a program and its parameters, weights as
 * views of a file, arrays for inputs and results, a run, and the memory that the program needs. To
 * pass memory of your own, use tirc_array_from_dlpack. */
#include <tirc.h>

#include <stdio.h>
#include <stdlib.h>

/* e: a pointer, since C may read the arguments in any order. */
static void must(tirc_status status, tirc_error **e) {
  if (status == TIRC_OK) return;
  const char *hint = tirc_error_get(*e, TIRC_ERROR_HINT);
  fprintf(stderr, "error [%s]: %s\n", tirc_error_get(*e, TIRC_ERROR_CODE), tirc_error_message(*e));
  if (hint) fprintf(stderr, "hint: %s\n", hint);
  exit((int)status);
}

static void show(const tirc_param *p, const tirc_array *a) {
  printf("%s: %s[", p->name, p->dtype);
  for (int d = 0; d < tirc_array_ndim(a); d++)
    printf("%s%lld", d ? ", " : "", (long long)tirc_array_shape(a)[d]);
  printf("] =");
  for (int64_t i = 0; i < tirc_array_count(a) && i < 4; i++) printf(" %g", tirc_array_get(a, i));
  puts(tirc_array_count(a) > 4 ? " ..." : "");
}

int main(int argc, char **argv) {
  tirc_error *e = NULL;
  tirc_module *m;
  tirc_program *program;
  if (argc < 2) return fputs("usage: model FILE [WEIGHTS.safetensors]\n", stderr), 2;
  must(tirc_module_read(argv[1], 0, NULL, &m, &e), &e);
  const tirc_program_options options = {.target = "native"};
  must(tirc_program_new(m, &options, &program, &e), &e);

  /* Inputs come first, then weights, then results. */
  const tirc_module *signature = tirc_program_signature(program);
  const tirc_param *params;
  int n;
  must(tirc_module_params(signature, NULL, &n, &params, &e), &e);
  const int inputs = tirc_program_inputs(program), results = tirc_program_params(program);
  tirc_argument *args = calloc((size_t)n, sizeof *args);
  tirc_weights *weights = NULL;
  if (!args) return 2;
  if (argc > 2)
    must(tirc_weights_open(argv[2], &weights, &e), &e);
  else
    must(tirc_module_weights(m, &weights, &e), &e); /* those of an ONNX file */
  for (int i = inputs; i < results; i++)
    must(tirc_weights_array(weights, params[i].name, &args[i].array, &e), &e);

  /* Extents with a name are 1 here; the shape of an array determines them. */
  const tirc_symbol *symbols;
  int n_symbols;
  must(tirc_module_symbols(signature, NULL, &n_symbols, &symbols, &e), &e);
  tirc_symbol *known = calloc((size_t)n_symbols + 1, sizeof *known);
  if (!known) return 2;
  for (int i = 0; i < n_symbols; i++)
    known[i] = (tirc_symbol){.name = symbols[i].name, .value = 1, .is_known = true};
  for (int i = 0; i < n; i++)
    if (!args[i].array)
      must(tirc_module_array(signature, NULL, n, args, n_symbols, known, i, NULL, &args[i].array,
                             &e),
           &e);
  for (int i = 0; i < inputs; i++) tirc_array_fill_random(args[i].array, (uint64_t)i);

  tirc_executor *threads;
  must(tirc_executor_new(0, &threads, &e), &e);
  must(tirc_program_run(program, threads, n, args, &e), &e);
  for (int i = results; i < n; i++) show(&params[i], args[i].array);
  tirc_program_size size;
  must(tirc_program_measure(program, n, args, &size, &e), &e);
  printf("%d calls of %d functions; workspace %lld bytes\n", size.calls, size.functions,
         (long long)size.workspace);

  for (int i = 0; i < n; i++) tirc_array_free(args[i].array);
  free(args);
  free(known);
  tirc_executor_free(threads);
  tirc_weights_close(weights);
  tirc_program_free(program);
  tirc_module_free(m);
  return 0;
}
