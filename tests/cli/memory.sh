#!/usr/bin/env bash
# Memory that runs out, a little later each time, from where the command and LLVM's library can just be loaded on: each
# time a message and status 2, no temporary file, until it suffices. Usage: memory.sh TIRC FOLDER
set -u
tirc=$1 out=$2 least=0
mkdir "$out/memory" || exit 1
export TMPDIR=$out/memory
for ((mib = 32; mib <= 2048 && !least; mib += 1)); do
  (ulimit -v $((mib * 1024)); "$tirc" apply small.tir --auto --target native) >/dev/null 2>&1 && least=$mib
done
[ $least -gt 0 ] || { echo "needs no limit"; exit 0; } # a sanitizer takes address space without end
printf 'i, j, k = sch.get_loops("C")\nsch.vectorize(j)\n' >"$out/vec.sch"

messages=0
try() { # kind of error message, what to run
  local wanted=$1 status=0
  shift
  for ((mib = least; mib < least + 64; mib += 1)); do
    (ulimit -v $((mib * 1024)); exec "$tirc" "$@") >"$out/stdout" 2>"$out/stderr"
    status=$?
    [ $status = 0 ] && break
    [ $status = 2 ] || { echo "$*: status $status with $mib MiB: $(head -c 300 "$out/stderr")"; exit 1; }
    if grep -q "$wanted" "$out/stderr"; then messages=$((messages + 1)); fi
  done
  [ -z "$(ls "$out/memory")" ] || { echo "$*: left $(ls "$out/memory")"; exit 1; }
}
try 'error: out of memory' build small.tir --emit=asm -o "$out/x.s"
try 'error: out of memory' build small.tir "$out/vec.sch" --emit=lib -o "$out/x.so"
try '"code":"memory","message":"out of memory"' build small.tir --error-format=json -o "$out/x.ll"
try 'error: out of memory' run small.tir "$out/vec.sch"
[ $messages -gt 0 ] || { echo "memory was never out"; exit 1; }
echo "the message $messages times"
