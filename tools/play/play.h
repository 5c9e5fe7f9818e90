/* The compiler in a page. */
#ifndef TIRC_TOOLS_PLAY_H
#define TIRC_TOOLS_PLAY_H

/* door.c: the answer to a question, both JSON; it is on the heap. */
__attribute__((visibility("default"))) char *tirc_answer(const char *question);

/* words.c: what an editor completes and explains: the primitives with their parameters, the T.*
 * functions, the words of scripts, the errors, the terms; the caller owns it. */
struct json_object *words_as_json(void);

/* lessons.c: the lessons, as `tirc lesson --pack` has them in a page; and what is still missing in
 * a schedule for an exercise of those, or NULL where it is none. The caller owns both. */
struct json_object *lessons_as_json(void);
struct json_object *verdict_as_json(struct json_object *exercise, const char *schedule);

/* absent.c: what the heap has grown to */
long long bytes_taken(void);

#endif
