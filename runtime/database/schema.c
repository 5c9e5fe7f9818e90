/* schema.sql as it is. */
#include "driver.h"

const char tirc_db_schema[] =
#include "schema.inc"
    ;
