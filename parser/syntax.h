/* The syntax tree of the one language that programs and schedule scripts are written in: a subset
 * of Python. The grammar builds it, two readers walk it (program.h here; passes/script).
 *
 * Depth of nesting is limited (SYNTAX_MAX_DEPTH) while building, so that every recursive walk is
 * bounded. All nodes live in the arena and know their place. */
#ifndef TIRC_PARSER_SYNTAX_H
#define TIRC_PARSER_SYNTAX_H

#include "ir/context.h"

#define SYNTAX_MAX_DEPTH 400

typedef enum SynKind {
  /* expressions */
  SYN_NAME,    /* s */
  SYN_INT,     /* i, or the bits of what only uint64 holds: see tirc_syn_is_large */
  SYN_FLOAT,   /* f */
  SYN_STRING,  /* s, decoded; adjacent strings are joined */
  SYN_FSTRING, /* kids: SYN_STRING parts and SYN_FORMAT parts */
  SYN_FORMAT,  /* {a!conv:s}: a, s = format spec or NULL, i = conversion char or 0 */
  SYN_TRUE,
  SYN_FALSE,
  SYN_NONE,
  SYN_ELLIPSIS,
  SYN_TUPLE,     /* kids */
  SYN_LIST,      /* kids */
  SYN_DICT,      /* kids: key, value, key, value */
  SYN_LISTCOMP,  /* a = element; kids = SYN_COMPFOR clauses; also generator expressions (i = 1) */
  SYN_COMPFOR,   /* a = target, b = iterable, kids = conditions */
  SYN_ATTRIBUTE, /* a.s */
  SYN_CALL, /* a = callee; kids = arguments: expressions, SYN_KEYWORD, SYN_STAR, SYN_DOUBLESTAR */
  SYN_KEYWORD, /* s = a */
  SYN_STAR,    /* *a */
  SYN_DOUBLESTAR,
  SYN_SUBSCRIPT, /* a[kids]; a tuple subscript has several kids; trailing comma sets i = 1 */
  SYN_SLICE,     /* a : b : c, each or NULL */
  SYN_BINARY,    /* a op b, op as written: "+", "//", "**", "@", "<<", "&" ... */
  SYN_UNARY,     /* op a: "-", "+", "~", "not" */
  SYN_COMPARE,   /* a op b; a chain x < y < z is SYN_BOOL "and" of compares sharing operands, i = 1
                  * on the inner ones; op also "in", "not in", "is", "is not" */
  SYN_BOOL,      /* a op b with op "and" / "or" */
  SYN_CONDITIONAL, /* a if b else c */
  SYN_LAMBDA,      /* kids = SYN_PARAM, a = body */
  SYN_PARAM, /* s = name, a = annotation or NULL, b = default or NULL, i: 0 plain, 1 *, 2 ** */
  SYN_YIELD_UNUSED,
  /* statements */
  SYN_EXPR_STMT, /* a */
  SYN_ASSIGN,    /* kids = targets (one or more, a = b = v), a = value */
  SYN_ANNASSIGN, /* a = target, b = annotation, c = value or NULL */
  SYN_AUGASSIGN, /* a op= b, op "+" ... */
  SYN_IF,        /* a = condition, body, orelse (elif is an SYN_IF in orelse) */
  SYN_FOR,       /* a = target, b = iterable, body, orelse */
  SYN_WHILE,     /* a = condition, body, orelse */
  SYN_WITH,      /* kids = SYN_WITHITEM, body */
  SYN_WITHITEM,  /* a = expression, b = target or NULL */
  SYN_DEF,       /* s = name, kids = SYN_PARAM, b = return annotation, body, decorators; op: of an
                  * outline, its text of i bytes: see tirc_syn_whole */
  SYN_CLASS,     /* s = name, kids = bases, body, decorators */
  SYN_RETURN,    /* a or NULL */
  SYN_BREAK,
  SYN_CONTINUE,
  SYN_PASS,
  SYN_ASSERT, /* a, b = message or NULL */
  SYN_RAISE,  /* a or NULL */
  SYN_TRY,    /* body; kids = SYN_EXCEPT; orelse; finally in `finalbody` */
  SYN_EXCEPT, /* a = type or NULL, s = name or NULL, body */
  SYN_IMPORT, /* ignored by both readers; s = text */
  SYN_GLOBAL, /* nonlocal / global: kids = names, op = "nonlocal" or "global" */
  SYN_DELETE  /* del a */
} SynKind;

typedef struct Syn Syn;
typedef struct SynList {
  int n;
  Syn **at;
} SynList;
struct Syn {
  SynKind kind;
  Loc loc;
  int end_line, end_column; /* one past the last character */
  int depth;
  const char *s; /* see the kinds */
  const char *op;
  int64_t i;
  double f;
  Syn *a, *b, *c;
  SynList kids, body, orelse, finalbody, decorators;
};

static inline bool tirc_syn_is_large(const Syn *s) { return s->kind == SYN_INT && s->op; }

typedef struct Source {
  const char *name; /* for messages */
  const char *text; /* length bytes; may hold anything */
  size_t length;
} Source;

/* A file's statements. Throws (code "syntax") with place, a hint and what was expected. */
SynList tirc_parse_syntax(Tirc *c, const Source *source);
/* The same of a text that stays, and is known to be well formed, with "\n" alone at ends of lines,
 * without the bodies of the functions at its left edge: a library has many, and few of them are
 * called. What stands there instead is no body. */
SynList tirc_parse_outline(Tirc *c, const Source *source);
/* Such a function with its body, read now; any other node is itself. */
const Syn *tirc_syn_whole(Tirc *c, const Syn *def);
/* The whole file in memory, "-" for standard input; throws (code "file"). */
Source tirc_read_source(Tirc *c, const char *path);
/* The same of a file that a text names, a stranger's perhaps: a regular one of at most that many
 * bytes which lies in the folder or below it once all links are followed. */
typedef enum FileFault { FILE_FINE, FILE_ABSENT, FILE_OUTSIDE, FILE_LARGE } FileFault;
FileFault tirc_read_inside(Tirc *c, const char *folder, const char *path, size_t most, Source *out);
/* The source line and a caret under `column`, for messages: "    12 | x = y +\n       |        ^".
 * NULL when the line is not in the source. Long lines are cut around the column. */
const char *tirc_source_excerpt(Tirc *c, const Source *source, int line, int column);

#endif
