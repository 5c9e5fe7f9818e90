/* Views: buffers that a block matches to a region of another one. */
#ifndef TIRC_IR_VIEWS_H
#define TIRC_IR_VIEWS_H

#include "ir.h"

/* A statement that accesses what its views show, and no views (match_buffer.c). */
Stmt tirc_without_views(Tirc *c, Stmt s);

#endif
