/* The parts of a study's report. */
#ifndef TIRC_TOOLS_STUDY_REPORT_H
#define TIRC_TOOLS_STUDY_REPORT_H

#include "study.h"

#include "doc.h"

typedef struct Verdicts {
  int carries, differs, undecided;
} Verdicts;

typedef struct Page {
  const Study *s;
  Doc d;
  Verdicts published, expected;
} Page;

/* report.c: what tells a setting from the others of its kernel, "M=16" */
void short_setting(const Bench *b, const Case *k, char *out, size_t size);
/* tiles.c */
void put_tiles(Page *p);

#endif
