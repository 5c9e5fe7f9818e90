/* The tables of the language: what programs may call and annotate, what scripts have. */
#include "api.h"

#include "ir/tree/annotations.h"
#include "parser/functions.h"
#include "passes/script/interp.h"

bool tirc_function_table(int i, tirc_function_info *out) {
  FunctionWords row;
  if (!out || i < 0 || !tirc_function_row(i, &row)) return false;
  *out = (tirc_function_info){row.topic, row.types, row.help};
  return true;
}

bool tirc_function_name(int i, int k, const char **name, const char **arguments) {
  return name && arguments && i >= 0 && k >= 0 && tirc_function_of_row(i, k, name, arguments);
}

bool tirc_annotation_table(int i, tirc_annotation_info *out) {
  if (!out || i < 0 || i >= N_ANNOTATION_KEYS) return false;
  const AnnotationRow *row = &tirc_annotation_rows[i];
  *out = (tirc_annotation_info){row->key, row->where, row->value, row->help};
  return true;
}

/* Row i of a table that ends with name NULL; what is behind it is counted off i. */
static const NativeRow *native_row(const NativeRow *row, int *i) {
  for (; row->name; row++)
    if ((*i)-- == 0) return row;
  return NULL;
}

/* Functions, modules' functions, methods, attributes, exceptions. */
bool tirc_script_table(int i, tirc_script_info *out) {
  if (!out || i < 0) return false;
  if (i < tirc_script_n_builtins) {
    *out = (tirc_script_info){TIRC_SCRIPT_FUNCTION, NULL, tirc_script_builtins[i].name};
    return true;
  }
  i -= tirc_script_n_builtins;
  const NativeRow *of_module = native_row(tirc_script_namespace_rows, &i);
  if (!of_module) of_module = native_row(tirc_script_intrin_rows, &i);
  if (of_module) {
    *out = (tirc_script_info){TIRC_SCRIPT_METHOD, of_module->type, of_module->name};
    return true;
  }
  const NativeRow *method;
  int n = 0;
  for (; (method = tirc_script_method_row(n)); n++)
    if (n == i) {
      *out = (tirc_script_info){TIRC_SCRIPT_METHOD, method->type, method->name};
      return true;
    }
  i -= n;
  const AttributeRow *attribute;
  for (n = 0; (attribute = tirc_script_attribute_row(n)); n++)
    if (n == i) {
      *out = (tirc_script_info){TIRC_SCRIPT_ATTRIBUTE, attribute->type, attribute->name};
      return true;
    }
  const ExceptionClass *exception = tirc_script_exception_row(i - n);
  if (exception) *out = (tirc_script_info){TIRC_SCRIPT_EXCEPTION, NULL, exception->name};
  return exception != NULL;
}
