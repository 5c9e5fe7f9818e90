#!/bin/sh
# A graph of x (n x 4) and w (4 x 3), a weight, that gives the value of one expression: graph.sh EXPRESSION
printf '@R.function\ndef main(x: R.Tensor(("n", 4), "float32"), w: R.Tensor((4, 3), "float32")):\n    R.func_attr({"num_input": 1})\n    with R.dataflow():\n        gv = %s\n        R.output(gv)\n    return gv\n' "$1"
