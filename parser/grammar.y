/* The grammar of the one language: the subset of Python that syntax.h lists. Actions only call the
 * builders of tree.c; what a tree means is decided by its two readers. Assignment targets and keyword
 * names are read as expressions and checked afterwards, which keeps the grammar LALR(1). */
%define api.pure full
%define api.prefix {tirc_grammar_}
%define api.location.type {Place}
%define parse.error custom
%define lr.type ielr
%define lr.default-reduction accepting
%locations
%param {void *scanner}
%parse-param {Parser *p}
%expect 0

%code requires {
#include "parser/tree.h"
}

%code top {
/* The generator's code, not ours. */
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#pragma GCC diagnostic ignored "-Wunused-parameter"
#pragma GCC diagnostic ignored "-Wmissing-prototypes"
#pragma GCC diagnostic ignored "-Wunused-but-set-variable"
}

%code {
int tirc_grammar_lex(TIRC_GRAMMAR_STYPE *value, Place *at, void *scanner);

/* The parser's stacks live in the arena, so that an error may unwind through it. */
#define YYMALLOC(n) tirc_alloc(p->c, (n))
#define YYFREE(q) ((void)(q))

#define YYLLOC_DEFAULT(to, rhs, n)                                                                 \
  do {                                                                                             \
    if (n) {                                                                                       \
      (to) = YYRHSLOC(rhs, 1);                                                                     \
      (to).last_line = YYRHSLOC(rhs, n).last_line;                                                 \
      (to).last_column = YYRHSLOC(rhs, n).last_column;                                             \
      (to).last_offset = YYRHSLOC(rhs, n).last_offset;                                             \
    } else {                                                                                       \
      (to).first_line = (to).last_line = YYRHSLOC(rhs, 0).last_line;                               \
      (to).first_column = (to).last_column = YYRHSLOC(rhs, 0).last_column;                         \
      (to).first_offset = (to).last_offset = YYRHSLOC(rhs, 0).last_offset;                         \
    }                                                                                              \
  } while (0)

static void tirc_grammar_error(Place *at, void *scanner, Parser *p, const char *message);

#define NODE(kind, at) tirc_syn_node(p, SYN_##kind, at)
#define ONE(kind, at, a) tirc_syn_1(p, SYN_##kind, at, a)
#define BINARY(at, op, a, b) tirc_syn_op(p, SYN_BINARY, at, op, a, b)
#define UNARY(at, op, a) tirc_syn_op(p, SYN_UNARY, at, op, a, NULL)
#define VEC1(x) tirc_syn_vec(p, x)
#define EMPTY tirc_syn_vec(p, NULL)
#define PUSH(v, x) tirc_syn_push(p, v, x)
#define TARGET(x) tirc_syn_check_target(p, x)
}

%union {
  const char *s;
  Syn *syn;
  SynVec *vec;
}

%token T_START_FILE T_START_EXPRESSION
%token T_NEWLINE "end of line" T_INDENT "indent" T_DEDENT "dedent"
%token <s> T_NAME "name" T_AUGASSIGN "augmented assignment"
%token <syn> T_NUMBER "number" T_STRING "string"
%token T_FALSE "False" T_NONE "None" T_TRUE "True" T_AND "and" T_AS "as" T_ASSERT "assert"
  T_BREAK "break" T_CLASS "class" T_CONTINUE "continue" T_DEF "def" T_DEL "del" T_ELIF "elif"
  T_ELSE "else" T_EXCEPT "except" T_FINALLY "finally" T_FOR "for" T_FROM "from" T_GLOBAL "global"
  T_IF "if" T_IMPORT "import" T_IN "in" T_IS "is" T_LAMBDA "lambda" T_NONLOCAL "nonlocal" T_NOT "not"
  T_OR "or" T_PASS "pass" T_RAISE "raise" T_RETURN "return" T_TRY "try" T_WHILE "while" T_WITH "with"
%token T_POWER "**" T_FLOORDIV "//" T_SHL "<<" T_SHR ">>" T_LE "<=" T_GE ">=" T_EQ "==" T_NE "!="
  T_ARROW "->" T_ELLIPSIS "..."

%left '|'
%left '^'
%left '&'
%left T_SHL T_SHR
%left '+' '-'
%left '*' '/' T_FLOORDIV '%' '@'

%type <s> compare_op
%type <syn> compound simple expression_statement import_statement
%type <syn> expression conditional disjunction conjunction inversion comparison arithmetic factor power
  primary atom lambda expressions star_or_expression
%type <syn> target_list target slice slice_part subscript_item argument parameter lambda_parameter
  comp_for with_item except_clause definition decorator elif_part raise_from return_annotation
  annotation_value
%type <vec> statements simple_line simples block arguments argument_list subscripts list_items
  expression_items target_items parameters parameter_list lambda_parameters lambda_parameter_list
  dict_items comp_fors comp_ifs with_items except_clauses names decorators else_part plain_else
  assign_parts finally_part strings
%%

start:
    T_START_FILE statements           { p->file_body = (SynList){$2->n, $2->at}; }
  | T_START_EXPRESSION expressions    { p->expression = $2; }
  ;

statements:
    %empty                            { $$ = EMPTY; }
  | statements simple_line            { $$ = tirc_syn_append(p, $1, $2); }
  | statements compound               { $$ = PUSH($1, $2); }
  ;

simple_line:
    simples T_NEWLINE
  | simples ';' T_NEWLINE
  ;
simples:
    simple                            { $$ = VEC1($1); }
  | simples ';' simple                { $$ = PUSH($1, $3); }
  ;

simple:
    expression_statement
  | import_statement
  | T_PASS                            { $$ = NODE(PASS, @$); }
  | T_BREAK                           { $$ = NODE(BREAK, @$); }
  | T_CONTINUE                        { $$ = NODE(CONTINUE, @$); }
  | T_RETURN                          { $$ = NODE(RETURN, @$); }
  | T_RETURN expressions              { $$ = ONE(RETURN, @$, $2); }
  | T_RAISE                           { $$ = NODE(RAISE, @$); }
  | T_RAISE expression raise_from     { $$ = ONE(RAISE, @$, $2); }
  | T_GLOBAL names                    { $$ = tirc_syn_list(p, SYN_GLOBAL, @$, $2); $$->op = "global"; }
  | T_NONLOCAL names                  { $$ = tirc_syn_list(p, SYN_GLOBAL, @$, $2); $$->op = "nonlocal"; }
  | T_DEL target_list                 { $$ = ONE(DELETE, @$, $2); }
  | T_ASSERT expression               { $$ = ONE(ASSERT, @$, $2); }
  | T_ASSERT expression ',' expression { $$ = tirc_syn_3(p, SYN_ASSERT, @$, $2, $4, NULL); }
  ;
raise_from:
    %empty                            { $$ = NULL; }
  | T_FROM expression                 { $$ = $2; }
  ;
names:
    T_NAME                            { $$ = VEC1(tirc_syn_name(p, @1, $1)); }
  | names ',' T_NAME                  { $$ = PUSH($1, tirc_syn_name(p, @3, $3)); }
  ;

expression_statement:
    expressions                       { $$ = ONE(EXPR_STMT, @$, $1); }
  | assign_parts                      { $$ = tirc_syn_assign(p, @$, $1); }
  | expressions T_AUGASSIGN expressions { $$ = tirc_syn_augmented(p, @$, $1, $2, $3); }
  | expressions ':' expression annotation_value { $$ = tirc_syn_annotated(p, @$, $1, $3, $4); }
  ;
assign_parts:
    expressions '=' expressions       { $$ = PUSH(VEC1($1), $3); }
  | assign_parts '=' expressions      { $$ = PUSH($1, $3); }
  ;
annotation_value:
    %empty                            { $$ = NULL; }
  | '=' expressions                   { $$ = $2; }
  ;

import_statement:
    T_IMPORT import_names             { $$ = tirc_syn_import(p, @$); }
  | T_FROM from_where T_IMPORT import_names { $$ = tirc_syn_import(p, @$); }
  | T_FROM from_where T_IMPORT '(' import_names ')' { $$ = tirc_syn_import(p, @$); }
  | T_FROM from_where T_IMPORT '(' import_names ',' ')' { $$ = tirc_syn_import(p, @$); }
  | T_FROM from_where T_IMPORT '*'    { $$ = tirc_syn_import(p, @$); }
  ;
from_where: dotted | dots | dots dotted;
dots: '.' | T_ELLIPSIS | dots '.' | dots T_ELLIPSIS;
import_names: import_name | import_names ',' import_name;
import_name: dotted | dotted T_AS T_NAME;
dotted: T_NAME | dotted '.' T_NAME;

block:
    simple_line
  | T_NEWLINE T_INDENT statements T_DEDENT { $$ = $3; }
  ;

compound:
    T_IF expression ':' block else_part
        { $$ = tirc_syn_compound(p, SYN_IF, @$, $2, NULL, NULL, $4, $5); }
  | T_FOR target_list T_IN expressions ':' block plain_else
        { TARGET($2); $$ = tirc_syn_compound(p, SYN_FOR, @$, $2, $4, NULL, $6, $7); }
  | T_WHILE expression ':' block plain_else
        { $$ = tirc_syn_compound(p, SYN_WHILE, @$, $2, NULL, NULL, $4, $5); }
  | T_WITH with_items ':' block
        { $$ = tirc_syn_compound(p, SYN_WITH, @$, NULL, NULL, $2, $4, NULL); }
  | T_TRY ':' block except_clauses plain_else finally_part
        { $$ = tirc_syn_try(p, @$, $3, $4, $5, $6); }
  | T_TRY ':' block T_FINALLY ':' block
        { $$ = tirc_syn_try(p, @$, $3, EMPTY, NULL, $6); }
  | definition
  | decorators definition             { $$ = tirc_syn_decorate(p, $1, $2); }
  ;
else_part:
    plain_else
  | elif_part                         { $$ = VEC1($1); }
  ;
elif_part:
    T_ELIF expression ':' block else_part
        { $$ = tirc_syn_compound(p, SYN_IF, @$, $2, NULL, NULL, $4, $5); }
  ;
plain_else:
    %empty                            { $$ = NULL; }
  | T_ELSE ':' block                  { $$ = $3; }
  ;
finally_part:
    %empty                            { $$ = NULL; }
  | T_FINALLY ':' block               { $$ = $3; }
  ;
with_items:
    with_item                         { $$ = VEC1($1); }
  | with_items ',' with_item          { $$ = PUSH($1, $3); }
  ;
with_item:
    expression                        { $$ = ONE(WITHITEM, @$, $1); }
  | expression T_AS target            { TARGET($3); $$ = tirc_syn_3(p, SYN_WITHITEM, @$, $1, $3, NULL); }
  ;
except_clauses:
    except_clause                     { $$ = VEC1($1); }
  | except_clauses except_clause      { $$ = PUSH($1, $2); }
  ;
except_clause:
    T_EXCEPT ':' block
        { $$ = tirc_syn_compound(p, SYN_EXCEPT, @$, NULL, NULL, NULL, $3, NULL); }
  | T_EXCEPT expression ':' block
        { $$ = tirc_syn_compound(p, SYN_EXCEPT, @$, $2, NULL, NULL, $4, NULL); }
  | T_EXCEPT expression T_AS T_NAME ':' block
        { $$ = tirc_syn_compound(p, SYN_EXCEPT, @$, $2, NULL, NULL, $6, NULL); $$->s = $4; }
  ;

decorators:
    decorator                         { $$ = VEC1($1); }
  | decorators decorator              { $$ = PUSH($1, $2); }
  ;
decorator:
    '@' expression T_NEWLINE          { $$ = $2; }
  ;
definition:
    T_DEF T_NAME '(' parameters ')' return_annotation ':' block
        { $$ = tirc_syn_def(p, SYN_DEF, @$, $2, $4, $6, $8); }
  | T_CLASS T_NAME ':' block
        { $$ = tirc_syn_def(p, SYN_CLASS, @$, $2, NULL, NULL, $4); }
  | T_CLASS T_NAME '(' arguments ')' ':' block
        { $$ = tirc_syn_def(p, SYN_CLASS, @$, $2, $4, NULL, $7); }
  ;
return_annotation:
    %empty                            { $$ = NULL; }
  | T_ARROW expression                { $$ = $2; }
  ;
parameters:
    %empty                            { $$ = EMPTY; }
  | parameter_list
  | parameter_list ','
  ;
parameter_list:
    parameter                         { $$ = VEC1($1); }
  | parameter_list ',' parameter      { $$ = PUSH($1, $3); }
  ;
parameter:
    lambda_parameter
  | T_NAME ':' expression             { $$ = tirc_syn_named(p, SYN_PARAM, @$, $1, $3, NULL); }
  | T_NAME ':' expression '=' expression { $$ = tirc_syn_named(p, SYN_PARAM, @$, $1, $3, $5); }
  ;
lambda_parameters:
    %empty                            { $$ = EMPTY; }
  | lambda_parameter_list
  | lambda_parameter_list ','
  ;
lambda_parameter_list:
    lambda_parameter                  { $$ = VEC1($1); }
  | lambda_parameter_list ',' lambda_parameter { $$ = PUSH($1, $3); }
  ;
lambda_parameter:
    T_NAME                            { $$ = tirc_syn_named(p, SYN_PARAM, @$, $1, NULL, NULL); }
  | T_NAME '=' expression             { $$ = tirc_syn_named(p, SYN_PARAM, @$, $1, NULL, $3); }
  | '*' T_NAME                        { $$ = tirc_syn_named(p, SYN_PARAM, @$, $2, NULL, NULL); $$->i = 1; }
  | '*'                               { $$ = tirc_syn_named(p, SYN_PARAM, @$, "", NULL, NULL); $$->i = 1; }
  | T_POWER T_NAME                    { $$ = tirc_syn_named(p, SYN_PARAM, @$, $2, NULL, NULL); $$->i = 2; }
  ;

expressions:
    star_or_expression
  | star_or_expression ','            { $$ = tirc_syn_list(p, SYN_TUPLE, @$, VEC1($1)); }
  | expression_items                  { $$ = tirc_syn_list(p, SYN_TUPLE, @$, $1); }
  | expression_items ','              { $$ = tirc_syn_list(p, SYN_TUPLE, @$, $1); }
  ;
expression_items:
    star_or_expression ',' star_or_expression { $$ = PUSH(VEC1($1), $3); }
  | expression_items ',' star_or_expression { $$ = PUSH($1, $3); }
  ;
star_or_expression:
    expression
  | '*' arithmetic                        { $$ = ONE(STAR, @$, $2); }
  ;
target_list:
    target
  | target ','                        { $$ = tirc_syn_list(p, SYN_TUPLE, @$, VEC1($1)); }
  | target_items                      { $$ = tirc_syn_list(p, SYN_TUPLE, @$, $1); }
  | target_items ','                  { $$ = tirc_syn_list(p, SYN_TUPLE, @$, $1); }
  ;
target_items:
    target ',' target                 { $$ = PUSH(VEC1($1), $3); }
  | target_items ',' target           { $$ = PUSH($1, $3); }
  ;
target:
    arithmetic
  | '*' arithmetic                        { $$ = ONE(STAR, @$, $2); }
  ;

expression:
    conditional
  | lambda
  ;
lambda:
    T_LAMBDA lambda_parameters ':' expression
        { $$ = tirc_syn_with_kids(p, SYN_LAMBDA, @$, $4, $2); }
  ;
conditional:
    disjunction
  | disjunction T_IF disjunction T_ELSE expression
        { $$ = tirc_syn_3(p, SYN_CONDITIONAL, @$, $1, $3, $5); }
  ;
disjunction:
    conjunction
  | disjunction T_OR conjunction      { $$ = tirc_syn_op(p, SYN_BOOL, @$, "or", $1, $3); }
  ;
conjunction:
    inversion
  | conjunction T_AND inversion       { $$ = tirc_syn_op(p, SYN_BOOL, @$, "and", $1, $3); }
  ;
inversion:
    comparison
  | T_NOT inversion                   { $$ = UNARY(@$, "not", $2); }
  ;
comparison:
    arithmetic
  | comparison compare_op arithmetic      { $$ = tirc_syn_compare(p, @$, $1, $2, $3); }
  ;
compare_op:
    '<'                               { $$ = "<"; }
  | '>'                               { $$ = ">"; }
  | T_LE                              { $$ = "<="; }
  | T_GE                              { $$ = ">="; }
  | T_EQ                              { $$ = "=="; }
  | T_NE                              { $$ = "!="; }
  | T_IN                              { $$ = "in"; }
  | T_NOT T_IN                        { $$ = "not in"; }
  | T_IS                              { $$ = "is"; }
  | T_IS T_NOT                        { $$ = "is not"; }
  ;
arithmetic: /* one for all of these: each name in between would be a step of every name and number */
    factor
  | arithmetic '|' arithmetic                 { $$ = BINARY(@$, "|", $1, $3); }
  | arithmetic '^' arithmetic                 { $$ = BINARY(@$, "^", $1, $3); }
  | arithmetic '&' arithmetic                 { $$ = BINARY(@$, "&", $1, $3); }
  | arithmetic T_SHL arithmetic               { $$ = BINARY(@$, "<<", $1, $3); }
  | arithmetic T_SHR arithmetic               { $$ = BINARY(@$, ">>", $1, $3); }
  | arithmetic '+' arithmetic                 { $$ = BINARY(@$, "+", $1, $3); }
  | arithmetic '-' arithmetic                 { $$ = BINARY(@$, "-", $1, $3); }
  | arithmetic '*' arithmetic                 { $$ = BINARY(@$, "*", $1, $3); }
  | arithmetic '/' arithmetic                 { $$ = BINARY(@$, "/", $1, $3); }
  | arithmetic T_FLOORDIV arithmetic          { $$ = BINARY(@$, "//", $1, $3); }
  | arithmetic '%' arithmetic                 { $$ = BINARY(@$, "%", $1, $3); }
  | arithmetic '@' arithmetic                 { $$ = BINARY(@$, "@", $1, $3); }
  ;
factor:
    power
  | '-' factor                        { $$ = UNARY(@$, "-", $2); }
  | '+' factor                        { $$ = UNARY(@$, "+", $2); }
  | '~' factor                        { $$ = UNARY(@$, "~", $2); }
  ;
power:
    primary
  | primary T_POWER factor            { $$ = BINARY(@$, "**", $1, $3); }
  ;

primary:
    atom
  | primary '.' T_NAME                { $$ = tirc_syn_named(p, SYN_ATTRIBUTE, @$, $3, $1, NULL); }
  | primary '(' arguments ')'         { $$ = tirc_syn_with_kids(p, SYN_CALL, @$, $1, $3); }
  | primary '[' subscripts ']'        { $$ = tirc_syn_with_kids(p, SYN_SUBSCRIPT, @$, $1, $3); }
  | primary '[' subscripts ',' ']'
        { $$ = tirc_syn_with_kids(p, SYN_SUBSCRIPT, @$, $1, $3); $$->i = 1; }
  ;
arguments:
    %empty                            { $$ = EMPTY; }
  | argument_list
  | argument_list ','
  ;
argument_list:
    argument                          { $$ = VEC1($1); }
  | argument_list ',' argument        { $$ = PUSH($1, $3); }
  ;
argument:
    expression
  | expression comp_fors
        { $$ = tirc_syn_with_kids(p, SYN_LISTCOMP, @$, $1, $2); $$->i = 1; }
  | expression '=' expression         { $$ = tirc_syn_keyword(p, @$, $1, $3); }
  | '*' expression                    { $$ = ONE(STAR, @$, $2); }
  | T_POWER expression                { $$ = ONE(DOUBLESTAR, @$, $2); }
  ;
subscripts:
    subscript_item                    { $$ = VEC1($1); }
  | subscripts ',' subscript_item     { $$ = PUSH($1, $3); }
  ;
subscript_item:
    star_or_expression
  | slice
  ;
slice:
    slice_part ':' slice_part         { $$ = tirc_syn_3(p, SYN_SLICE, @$, $1, $3, NULL); }
  | slice_part ':' slice_part ':' slice_part { $$ = tirc_syn_3(p, SYN_SLICE, @$, $1, $3, $5); }
  ;
slice_part:
    %empty                            { $$ = NULL; }
  | expression
  ;

atom:
    T_NAME                            { $$ = tirc_syn_name(p, @$, $1); }
  | T_NUMBER
  | strings                           { $$ = tirc_syn_join_strings(p, @$, $1); }
  | T_TRUE                            { $$ = NODE(TRUE, @$); }
  | T_FALSE                           { $$ = NODE(FALSE, @$); }
  | T_NONE                            { $$ = NODE(NONE, @$); }
  | T_ELLIPSIS                        { $$ = NODE(ELLIPSIS, @$); }
  | '(' ')'                           { $$ = tirc_syn_list(p, SYN_TUPLE, @$, EMPTY); }
  | '(' expressions ')'               { $$ = tirc_syn_parenthesised(@$, $2); }
  | '(' expression comp_fors ')'
        { $$ = tirc_syn_with_kids(p, SYN_LISTCOMP, @$, $2, $3); $$->i = 1; }
  | '[' ']'                           { $$ = tirc_syn_list(p, SYN_LIST, @$, EMPTY); }
  | '[' list_items ']'                { $$ = tirc_syn_list(p, SYN_LIST, @$, $2); }
  | '[' list_items ',' ']'            { $$ = tirc_syn_list(p, SYN_LIST, @$, $2); }
  | '[' expression comp_fors ']'      { $$ = tirc_syn_with_kids(p, SYN_LISTCOMP, @$, $2, $3); }
  | '{' '}'                           { $$ = tirc_syn_list(p, SYN_DICT, @$, EMPTY); }
  | '{' dict_items '}'                { $$ = tirc_syn_list(p, SYN_DICT, @$, $2); }
  | '{' dict_items ',' '}'            { $$ = tirc_syn_list(p, SYN_DICT, @$, $2); }
  ;
list_items:
    star_or_expression                { $$ = VEC1($1); }
  | list_items ',' star_or_expression { $$ = PUSH($1, $3); }
  ;
dict_items:
    expression ':' expression         { $$ = PUSH(VEC1($1), $3); }
  | dict_items ',' expression ':' expression { $$ = PUSH(PUSH($1, $3), $5); }
  ;
strings:
    T_STRING                          { $$ = VEC1($1); }
  | strings T_STRING                  { $$ = PUSH($1, $2); }
  ;
comp_fors:
    comp_for                          { $$ = VEC1($1); }
  | comp_fors comp_for                { $$ = PUSH($1, $2); }
  ;
comp_for:
    T_FOR target_list T_IN disjunction comp_ifs
        { TARGET($2); $$ = tirc_syn_compound(p, SYN_COMPFOR, @$, $2, $4, $5, NULL, NULL); }
  ;
comp_ifs:
    %empty                            { $$ = EMPTY; }
  | comp_ifs T_IF disjunction         { $$ = PUSH($1, $3); }
  ;

%%

static int yyreport_syntax_error(const yypcontext_t *context, void *scanner, Parser *p) {
  (void)scanner;
  enum { MAX = YYNTOKENS };
  yysymbol_kind_t kinds[MAX];
  const char *names[MAX];
  int n = yypcontext_expected_tokens(context, kinds, MAX);
  if (n < 0) return n;
  for (int i = 0; i < n; i++) names[i] = yysymbol_name(kinds[i]);
  tirc_syn_unexpected(p, *yypcontext_location(context), yysymbol_name(yypcontext_token(context)), n,
                      names);
}

/* Only for what is no syntax error: the parser's stacks are full. */
static void tirc_grammar_error(Place *at, void *scanner, Parser *p, const char *message) {
  (void)scanner;
  (void)message;
  tirc_syn_fail(p, at->first_line, at->first_column, NULL, "nested too deeply");
}
