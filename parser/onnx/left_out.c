/* Files of ONNX in a build without them (meson's option onnx): they are refused. */
#include "onnx.h"

_Noreturn static void refuse(Tirc *c, const char *path) {
  tirc_fail(c, (Loc){tirc_strdup(c, path), 0, 0}, CODE_ONNX,
            "build tirc with -Donnx=true, which needs protobuf-c and onnx.proto",
            "this tirc was built without files of ONNX");
}

const OnnxModel *tirc_onnx_read(Tirc *c, const char *path) { refuse(c, path); }
const OnnxTensor *tirc_onnx_read_tensor(Tirc *c, const char *path) { refuse(c, path); }
