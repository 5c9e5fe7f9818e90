#!/bin/sh
# run.sh MODEL.onnx [-DINT8]: runs the model as C on this machine and on a Cortex-M4 that QEMU emulates. Prints the results
# of both, and the flash and memory it takes. TIRC, CC, ARM_CC and QEMU say which programs to use.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
tirc=${TIRC:-tirc} cc=${CC:-cc} arm=${ARM_CC:-arm-none-eabi-gcc} qemu=${QEMU:-qemu-system-arm}
strict="-std=c11 -pedantic-errors -Wall -Wextra -Werror"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp "$1" "$work/model.onnx"
shift
cd "$work"
for kind in c header; do
  "$tirc" build model.onnx --weights-inside --target generic --emit=$kind --no-alloc -o model.${kind%eader}
done
$cc $strict -O2 -ffp-contract=off "$@" -I. model.c "$here/main.c" -o on_host -lm
machine="-mcpu=cortex-m4 -mthumb -mfloat-abi=hard -mfpu=fpv4-sp-d16"
$arm $strict $machine -O2 -ffp-contract=off -fstack-usage -c model.c
$arm $machine -O2 "$@" -I. --specs=rdimon.specs -nostartfiles -T "$here/board.ld" model.o "$here/main.c" "$here/board.c" -o on_board.elf -lm
./on_host >host
"$qemu" -machine mps2-an386 -nographic -semihosting -kernel on_board.elf </dev/null >board
paste host board
flash=$("${arm%gcc}size" model.o | awk 'NR == 2 { print $1 + $2 }')
workspace=$(sed -n 's/^enum { model_workspace = \([0-9]*\) };/\1/p' model.h)
stack=$(awk '{ if ($2 > most) most = $2 } END { print most }' model.su)
echo "flash $flash bytes, of it the weights; memory: workspace $workspace bytes, and $stack of stack in the function that has most"
