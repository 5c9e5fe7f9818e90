/* Results as JSON. Texts become UTF-8; NULL, and what JSON has no number of, becomes null. */
#ifndef TIRC_TOOLS_JSON_H
#define TIRC_TOOLS_JSON_H

#include "kit.h"

#include <json-c/json.h>

typedef struct json_object Json;

Json *json_text(const char *text);
Json *json_number(double v);
Json *json_pair(double a, double b);
Json *json_numbers(int n, const double *v);
Json *json_texts(int n, const char *const *texts);

void add_json(Json *j, const char *key, Json *value);
void add_text(Json *j, const char *key, const char *text);
void add_some(Json *j, const char *key, const char *text); /* unless it is NULL or "" */
void add_int(Json *j, const char *key, int64_t v);
void add_number(Json *j, const char *key, double v);
void add_known(Json *j, const char *key, double v); /* 0: null, too */
void add_pair(Json *j, const char *key, double a, double b);
void add_bool(Json *j, const char *key, bool v);

/* A part of a profile; unit: "cycles", "work", or NULL for seconds. */
Json *profile_part_json(const tirc_profile_part *p, const char *unit);

/* {"model", "kernels": [...], "accesses": [...], "branches": [...]} */
Json *costs_json(const tirc_costs *costs);

/* Of an object, which may be NULL; 0 and NULL where it has no such key. */
double number_in(Json *j, const char *key);
const char *text_in(Json *j, const char *key);

/* These free j. Its text in one line, or in many to a file (NULL or "-": standard output), with
 * spaces or without; DONE or BAD. */
char *json_string(Json *j, bool spaced);
int write_json(const char *path, Json *j, bool spaced);

#endif
