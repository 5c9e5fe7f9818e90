/* Loop trees as text: a function, its loops and blocks, one a line. */
#include "step.h"

#include <string.h>

static void put_buffers(FILE *to, const char *what, int n, const tirc_access *at) {
  for (int i = 0; i < n; i++) fprintf(to, "%s%s", i ? ", " : what, at[i].buffer);
}

static void put_loop(const tirc_node *node, FILE *to) {
  bool serial = strcmp(node->loop_kind, "serial") == 0;
  fprintf(to, "%s %s in %s", serial ? "for" : node->loop_kind, node->name, node->extent);
  if (node->thread) fprintf(to, " as %s", node->thread);
}

static void put_block(const tirc_node *node, FILE *to) {
  fprintf(to, "block %s", node->name);
  if (node->iters && *node->iters) fprintf(to, " [%s]", node->iters);
  put_buffers(to, ": reads ", node->n_reads, node->reads);
  put_buffers(to, node->n_reads ? "; writes " : ": writes ", node->n_writes, node->writes);
  for (int i = 0; i < node->n_allocs; i++)
    fprintf(to, "%s%s: %s%s%s", i ? ", " : " allocates ", node->allocs[i].buffer,
            node->allocs[i].detail, strcmp(node->allocs[i].scope, "global") == 0 ? "" : " in ",
            strcmp(node->allocs[i].scope, "global") == 0 ? "" : node->allocs[i].scope);
  if (node->predicate) fprintf(to, " where %s", node->predicate);
}

void tree_line(const tirc_node *node, FILE *to) {
  switch (node->kind) {
  case TIRC_FUNCTION:
    fprintf(to, "%s(", node->name);
    put_buffers(to, "", node->n_allocs, node->allocs);
    fputc(')', to);
    break;
  case TIRC_LOOP: put_loop(node, to); break;
  case TIRC_BLOCK: put_block(node, to); break;
  }
  if (node->annotations) fprintf(to, " %s", node->annotations);
}

char *tree_text(const tirc_view *v) {
  char *text = NULL;
  size_t n = 0;
  FILE *f = begin_text(&text, &n);
  for (int i = 0; i < v->n; i++) {
    fprintf(f, "%*s", 2 * v->nodes[i].depth, "");
    tree_line(&v->nodes[i], f);
    fputc('\n', f);
  }
  return end_text(f, &text);
}
