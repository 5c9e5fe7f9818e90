/* What the parts of `tirc cost` share. */
#ifndef TIRC_TOOLS_COST_H
#define TIRC_TOOLS_COST_H

#include "command.h"
#include "tools/kit/json.h"
#include "tools/kit/table.h"

/* cost_log.c: what each log of products, a JSON object in each line, would cost on each array, in
 * each dataflow, with items of each size. DONE, or the status after an error. */
int cost_logs(const CostOptions *o);
/* cmd_cost.c: a note where instances may run more than once, by a report of a mapping. */
void print_once(FILE *out, Json *j);
/* On one line. */
void print_json(Json *j);
/* What stands in a list of words: "os,ws". */
List words_of(const char *text, const char *usual);

#endif
