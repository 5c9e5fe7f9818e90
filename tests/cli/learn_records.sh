# usage: learn_records.sh TIRC DB FOLDER: trials of a matrix product for a database, with times that are made up:
# rule_based up to M = 64, full beyond, so that of each knob it is known how it depends on the shape.
set -eu
tirc=$1 db=$2 folder=$3 matmul=../../examples/matmul
mkdir -p "$folder"
for m in 16 24 32 48 64 96 128 192 256; do
  schedule=rule_based
  [ $m -le 64 ] || schedule=full
  "$tirc" apply $matmul/matmul.tir $matmul/$schedule.sch -D M=$m -D N=64 -D K=64 --save-trace "$folder/$m.trace" > /dev/null
  printf '[0, [%s, [0.002], {"kind": "llvm", "mcpu": "haswell"}, [["TENSOR", "float32", [%d, 64]], ["TENSOR", "float32", [64, 64]], ["TENSOR", "float32", [%d, 64]]]]]\n' \
    "$(cat "$folder/$m.trace")" $m $m > "$folder/$m.json"
  "$tirc" db import "$folder/$m.json" $matmul/matmul.tir -D M=$m -D N=64 -D K=64 --machine ours --database "$db" > /dev/null
done
