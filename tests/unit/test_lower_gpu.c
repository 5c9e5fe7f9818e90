/* What each pass of the lowering for GPUs must make of small programs, and what is refused. That
 * the kernels compute what the programs do is for those tests that run them. */
#include "compare.h"
#include "passes/lower/lower.h"

#define MAIN(params, body) "@T.prim_func\ndef main(" params "):\n" body
#define BUF(name, n) #name ": T.Buffer((" #n ",), \"float32\")"
#define SHARED(name, n) "    " #name " = T.alloc_buffer((" #n ",), scope=\"shared\")\n"
#define LOCAL(name, n) "    " #name " = T.alloc_buffer((" #n ",), scope=\"local\")\n"
#define BX(n) "    for bx in T.thread_binding(" #n ", thread=\"blockIdx.x\"):\n"
#define TX(n) "        for tx in T.thread_binding(" #n ", thread=\"threadIdx.x\"):\n"
#define TY(n) "        for ty in T.thread_binding(" #n ", thread=\"threadIdx.y\"):\n"
#define REDUCTION(bind)                                                                            \
  "            with T.block(\"B\"):\n"                                                             \
  "                vi = T.axis.spatial(4, bx)\n                vk = T.axis.reduce(" bind ")\n"     \
  "                with T.init():\n                    B[vi] = T.float32(0)\n"                     \
  "                B[vi] = B[vi] + A[vk]\n"

typedef struct Expectation {
  const char *name, *pass, *target, *text;
  const char *must[5]; /* stand in the program after the pass */
  const char *must_not[3];
} Expectation;

#define PIPELINED(annotations)                                                                     \
  BX(1)                                                                                            \
  TX(8)                                                                                            \
  "            for k in T.serial(8, annotations={" annotations "}):\n"                             \
  "                with T.block(\"\"):\n"                                                          \
  "                    S = T.alloc_buffer((8,), scope=\"shared\")\n"                               \
  "                    S[tx] = A[k * 8 + tx]\n"                                                    \
  "                    B[tx] = B[tx] + S[7 - tx]\n"
static const Expectation expectations[] = {
    {"one loop an axis",
     "UnifyThreadBinding",
     "sm_80",
     MAIN(BUF(A, 32) ", " BUF(B, 32),
          SHARED(S, 32) BX(4) TX(8) "            S[bx * 8 + tx] = A[bx * 8 + tx]\n" TX(
              8) "            B[bx * 8 + tx] = S[bx * 8 + 7 - tx]\n"),
     {"for threadIdx_x in T.thread_binding(8, thread=\"threadIdx.x\")"},
     {"for tx in"}},
    {"one thread does what runs once",
     "UnifyThreadBinding",
     "sm_80",
     MAIN(BUF(A, 32) ", " BUF(B, 4),
          SHARED(S, 32) BX(4)
              TX(8) "            S[tx] = A[bx * 8 + tx]\n        B[bx] = S[0] + S[1]\n"),
     {"if threadIdx_x == 0:\n"},
     {NULL}},
    {"threads have what is local each",
     "UnifyThreadBinding",
     "sm_80",
     MAIN(BUF(A, 32) ", " BUF(B, 32),
          LOCAL(L, 1) BX(4) "        L[0] = A[bx]\n" TX(8) "            B[bx * 8 + tx] = L[0]\n"),
     {"L[0] = A[blockIdx_x]"},
     {"if threadIdx_x"}},
    {"a barrier between a store and what reads it",
     "SplitHostDevice",
     "sm_80",
     MAIN(BUF(A, 32) ", " BUF(B, 32),
          SHARED(S, 8) BX(4) TX(8) "            S[tx] = A[bx * 8 + tx]\n"
                                   "            B[bx * 8 + tx] = S[7 - tx]\n"),
     {"T.call_packed(\"main_kernel\", A.data, B.data, 4, 8)", "def main_kernel(A",
      "S[threadIdx_x] = A[blockIdx_x * 8 + threadIdx_x]\n"
      "                T.tvm_storage_sync(\"shared\")\n",
      "\"tir.kernel_launch_params\": [\"blockIdx.x\", \"threadIdx.x\"]"},
     {NULL}},
    {"indices of vectors have 32 bits",
     "ForceNarrowIndexToInt32",
     "sm_80",
     MAIN("A: T.Buffer((T.int64(64),), \"float32\"), B: T.Buffer((T.int64(64),), \"float32\")",
          "    for bx in T.thread_binding(T.int64(2), thread=\"blockIdx.x\"):\n"
          "        for tx in T.thread_binding(T.int64(8), thread=\"threadIdx.x\"):\n"
          "            for i in T.vectorized(T.int64(4)):\n"
          "                B[bx * 32 + tx * 4 + i] = A[bx * 32 + tx * 4 + i]\n"),
     {"blockIdx_x * 32 + threadIdx_x * 4:blockIdx_x * 32 + threadIdx_x * 4 + 4] = A["},
     {"T.Cast"}},
    {"digits of one number are that number",
     "FlattenBuffer",
     "sm_80",
     MAIN("a: T.handle, B: T.Buffer((32,), \"float32\"), C: T.Buffer((32,), \"float32\")",
          "    n = T.int32()\n    A = T.match_buffer(a, (8, n))\n" BX(4)
              TX(8) "            B[bx * 8 + tx] = A[(bx * 8 + tx) // n, (bx * 8 + tx) % n]\n"
                    "            C[bx * 8 + tx] = A[(bx * 8 + tx + 1) // n, (bx * 8 + tx) % n]\n"),
     {"= A_1[T.Cast(\"int64\", blockIdx_x * 8 + threadIdx_x)]",
      "= A_1[T.Cast(\"int64\", (blockIdx_x * 8 + threadIdx_x + 1) // n) * T.Cast(\"int64\", n) +"},
     {NULL}},
    {"a number beside a digit is not one of its digits",
     "FlattenBuffer",
     "sm_80",
     MAIN("a: T.handle, B: T.Buffer((32,), \"float32\"), m: T.int32",
          "    n = T.int32()\n    A = T.match_buffer(a, (8, n))\n" BX(4)
              TX(8) "            B[bx * 8 + tx] = A[3, (bx * 8 + tx) % m % n]\n"),
     {"= A_1[T.int64(3) * T.Cast(\"int64\", n) + "
      "T.Cast(\"int64\", (blockIdx_x * 8 + threadIdx_x) % m % n)]"},
     {NULL}},
    {"none where a thread reads what it has stored",
     "SplitHostDevice",
     "sm_80",
     MAIN(BUF(A, 32) ", " BUF(B, 32),
          SHARED(S, 8) BX(4) TX(8) "            S[tx] = A[bx * 8 + tx]\n"
                                   "            B[bx * 8 + tx] = S[tx]\n"),
     {"main_kernel"},
     {"storage_sync"}},
    {"none between different buffers",
     "SplitHostDevice",
     "sm_80",
     MAIN(BUF(A, 32) ", " BUF(B, 32),
          SHARED(S, 8) SHARED(R, 8) BX(4) TX(8) "            S[tx] = A[bx * 8 + tx]\n"
                                                "            R[7 - tx] = A[bx * 8 + tx]\n"
                                                "            B[bx * 8 + tx] = S[tx] + R[7 - tx]\n"),
     {"main_kernel"},
     {"storage_sync"}},
    {"a barrier at the head of a loop whose next step stores what the last one reads",
     "SplitHostDevice",
     "sm_80",
     MAIN(BUF(A, 256) ", " BUF(B, 8),
          SHARED(S, 8) LOCAL(L, 1) BX(1) TX(8) "            L[0] = T.float32(0)\n"
                                               "            for k in range(8):\n"
                                               "                S[tx] = A[k * 8 + tx]\n"
                                               "                L[0] = L[0] + S[7 - tx]\n"
                                               "            B[tx] = L[0]\n"),
     {"for k in range(8):\n                    T.tvm_storage_sync(\"shared\")\n",
      "S[threadIdx_x] = A[k * 8 + threadIdx_x]\n                    T.tvm_storage_sync"},
     {NULL}},
    {"none before the first step of what is written out, where only other memory was touched",
     "SplitHostDevice",
     "sm_80",
     MAIN(BUF(A, 24) ", " BUF(B, 24),
          SHARED(S, 8) SHARED(R, 8) BX(1) TX(8) "            S[tx] = A[16 + tx]\n"
                                                "            for i in T.unroll(2):\n"
                                                "                R[tx] = A[i * 8 + tx]\n"
                                                "                B[i * 8 + tx] = R[7 - tx]\n"
                                                "            B[16 + tx] = S[tx]\n"),
     {"S[threadIdx_x] = A[threadIdx_x + 16]\n                R[threadIdx_x] =",
      "R[7 - threadIdx_x]\n                T.tvm_storage_sync(\"shared\")\n                "
      "R[threadIdx_x] ="},
     {NULL}},
    {"one where an index is loaded, which may be any",
     "SplitHostDevice",
     "sm_80",
     MAIN("A: T.Buffer((8,), \"int32\"), " BUF(B, 8),
          SHARED(S, 9) BX(1) TX(8) "            v: T.int32 = A[tx]\n"
                                   "            S[v] = T.float32(1)\n"
                                   "            B[tx] = S[v + 1]\n"),
     {"S[v] = T.float32(1.0)\n                T.tvm_storage_sync(\"shared\")\n"},
     {NULL}},
    {"none between lanes that are apart",
     "SplitHostDevice",
     "sm_80",
     MAIN(BUF(A, 64) ", " BUF(B, 64),
          SHARED(S, 64) BX(1)
              TX(8) "            for i in T.vectorized(4):\n"
                    "                S[tx * 8 + i] = A[tx * 4 + i]\n"
                    "            for i in T.vectorized(4):\n"
                    "                B[tx * 4 + i] = S[tx * 8 + i] + S[tx * 8 + 4 + i]\n"),
     {"S[threadIdx_x * 8:threadIdx_x * 8 + 4] ="},
     {"storage_sync"}},
    {"none where blocks have a symbolic length of memory each",
     "SplitHostDevice",
     "sm_80",
     MAIN("a: T.handle", "    n = T.int32()\n    A = T.match_buffer(a, (4, n))\n" BX(4)
                             TX(8) "            for k in range(n):\n"
                                   "                A[bx, tx * 4] = T.float32(k)\n"
                                   "                A[bx, tx * 4 + 1] = A[bx, tx * 4]\n"),
     {"main_kernel"},
     {"storage_sync"}},
    {"one between views of a memory whose elements have other widths",
     "SplitHostDevice",
     "sm_80",
     MAIN(BUF(A, 8) ", B: T.Buffer((8,), \"int8\")",
          BX(1) TX(
              8) "            M = T.decl_buffer((64,), \"uint8\", scope=\"shared\")\n"
                 "            F = T.decl_buffer((8,), \"float32\", data=M.data, scope=\"shared\")\n"
                 "            I = T.decl_buffer((32,), \"int8\", data=M.data, scope=\"shared\")\n"
                 "            F[tx] = A[tx]\n"
                 "            B[tx] = I[tx + 24]\n"),
     {"F[threadIdx_x] = A[threadIdx_x]\n                T.tvm_storage_sync(\"shared\")\n"},
     {NULL}},
    {"a kernel may hand values over in global memory within a block",
     "SplitHostDevice",
     "sm_80",
     MAIN(BUF(A, 32) ", " BUF(B, 32) ", " BUF(C, 32),
          BX(4) TX(8) "            B[bx * 8 + tx] = A[bx * 8 + tx]\n"
                      "            C[bx * 8 + tx] = B[bx * 8 + 7 - tx]\n"),
     {"T.tvm_storage_sync"},
     {NULL}},
    {"two kernels, and what one hands to the other",
     "SplitHostDevice",
     "sm_80",
     MAIN(BUF(A, 32) ", " BUF(B, 32),
          "    G = T.alloc_buffer((32,))\n" BX(4)
              TX(8) "            G[bx * 8 + tx] = A[bx * 8 + tx]\n" BX(4)
                  TX(8) "            B[bx * 8 + tx] = G[31 - bx * 8 - tx]\n"),
     {"T.call_packed(\"main_kernel\", A.data, G.data, 4, 8)",
      "T.call_packed(\"main_kernel_1\", B.data, G.data, 4, 8)", "G = T.decl_buffer((32,))"},
     {"storage_sync"}},
    {"a shared buffer has what all threads of a block reach, a local one what one does",
     "CompactBufferAllocation",
     "sm_80",
     MAIN(BUF(A, 1024) ", " BUF(B, 1024),
          SHARED(S, 1024) LOCAL(L, 1024) BX(16)
              TX(16) "            for i in range(4):\n"
                     "                S[bx * 64 + tx * 4 + i] = A[bx * 64 + tx * 4 + i]\n"
                     "            for i in range(4):\n"
                     "                L[bx * 64 + tx * 4 + i] = S[bx * 64 + 63 - tx * 4 - i]\n"
                     "            for i in range(4):\n"
                     "                B[bx * 64 + tx * 4 + i] = L[bx * 64 + tx * 4 + i]\n"),
     {"S = T.alloc_buffer((64,), scope=\"shared\")", "L = T.alloc_buffer((4,), scope=\"local\")"},
     {NULL}},
    {"virtual threads share what is shared and have the rest each",
     "InjectVirtualThread",
     "sm_80",
     MAIN(BUF(A, 256) ", " BUF(B, 64),
          SHARED(S, 32) LOCAL(L, 4)
              BX(1) "      for v in T.thread_binding(2, thread=\"vthread.x\"):"
                    "\n" TX(8) "            for i in range(4):\n"
                               "                L[i] = T.float32(0)\n"
                               "            for k in range(8):\n"
                               "                for i in range(4):\n"
                               "                    S[tx * 4 + i] = A[k * 32 + tx * 4 + i]\n"
                               "                for i in range(4):\n"
                               "                    L[i] = L[i] + S[v * 16 + i]\n"
                               "            for i in range(4):\n"
                               "                B[v * 32 + tx * 4 + i] = L[i]\n"),
     {"L = T.decl_buffer((8,), scope=\"local\")", "S = T.decl_buffer((32,), scope=\"shared\")",
      "for v in T.unroll(2):\n", "L[v * 4 + i] = L[v * 4 + i] + S[v * 16 + i]"},
     {"vthread"}},
    {"virtual threads whose threads reduce together have memory for it each",
     "InjectVirtualThread",
     "opencl",
     MAIN(BUF(A, 256) ", " BUF(B, 8),
          BX(4) "      for v in T.thread_binding(2, thread=\"vthread.x\"):\n" TX(
              32) "            with T.block(\"B\"):\n"
                  "                vi = T.axis.spatial(8, bx * 2 + v)\n                vk = "
                  "T.axis.reduce(32, tx)\n"
                  "                with T.init():\n                    B[vi] = T.float32(0)\n"
                  "                B[vi] = B[vi] + A[vi * 32 + vk]\n"),
     {"red_buf0 = T.decl_buffer((64,), scope=\"shared\")",
      "red_buf0[v * 32 + threadIdx_x] = ", "B[blockIdx_x * 2 + v] = red_buf0[v * 32]"},
     {"red_buf0[threadIdx_x]", "vthread"}},
    {"a warp reduces by shuffles",
     "LowerCrossThreadReduction",
     "sm_80",
     MAIN(BUF(A, 32) ", " BUF(B, 4), BX(4) TX(32) REDUCTION("32, tx")),
     {"T.tvm_warp_shuffle_down(mask[0], red_buf0[0], 16, 32, 32)",
      "T.tvm_warp_shuffle_down(mask[0], red_buf0[0], 1, 32, 32)", "T.where(threadIdx_x == 0)"},
     {"scope=\"shared\""}},
    {"several warps reduce by shuffles twice",
     "SplitHostDevice",
     "sm_80",
     MAIN(BUF(A, 128) ", " BUF(B, 4), BX(4) TX(128) REDUCTION("128, tx")),
     {"T.tvm_warp_shuffle_down(mask[0], red_buf0[0], 16, 32, 32)",
      "red_warps0 = T.decl_buffer((4,), scope=\"shared\")",
      "T.tvm_storage_sync(\"shared\")\n                red_buf0[0] = red_warps0[",
      "T.tvm_warp_shuffle_down(mask[0], red_buf0[0], 2, 4, 32)", "if threadIdx_x == 0:"},
     {"if threadIdx_x < 64", "red_buf0[0], 4, 4, 32)"}},
    {"a pipeline overlaps its iterations",
     "InjectSoftwarePipeline",
     "sm_80",
     MAIN(BUF(A, 64) ", " BUF(B, 8),
          BX(1) TX(8) "            for k in T.serial(8, annotations={\"software_pipeline_stage\": "
                      "[0, 1], \"software_pipeline_order\": [0, 1]}):\n"
                      "                with T.block(\"\"):\n"
                      "                    S = T.alloc_buffer((8,), scope=\"shared\")\n"
                      "                    S[tx] = A[k * 8 + tx]\n"
                      "                    B[tx] = B[tx] + S[7 - tx]\n"),
     {"S = T.alloc_buffer((2, 8), scope=\"shared\")", "S[0, threadIdx_x] = A[",
      "for k in range(7):", "S[(k + 1) % 2, threadIdx_x] = A[", "S[1, 7 - threadIdx_x]"},
     {"software_pipeline"}},
    {"a pipeline of no more steps than stages",
     "InjectSoftwarePipeline",
     "sm_80",
     MAIN(BUF(A, 16) ", " BUF(B, 8),
          BX(1) TX(8) "            for k in T.serial(2, annotations={\"software_pipeline_stage\": "
                      "[0, 3], \"software_pipeline_order\": [0, 1]}):\n"
                      "                with T.block(\"\"):\n"
                      "                    S = T.alloc_buffer((8,), scope=\"shared\")\n"
                      "                    S[tx] = A[k * 8 + tx]\n"
                      "                    B[tx] = B[tx] + S[7 - tx]\n"),
     {"S = T.alloc_buffer((2, 8), scope=\"shared\")",
      "S[0, threadIdx_x] = A[T.Mul(0, 8) + threadIdx_x]\n                S[1, threadIdx_x] = A[",
      "S[0, 7 - threadIdx_x]\n                B[threadIdx_x] = B[threadIdx_x] + S[1, 7"},
     {"software_pipeline", "for k"}},
    {"a pipeline around one has numbers for what that becomes in the reference",
     "InjectSoftwarePipeline",
     "sm_80",
     MAIN(BUF(A, 64) ", " BUF(B, 8),
          SHARED(S, 8) LOCAL(L, 1) BX(1)
              TX(8) "            for k in T.serial(8, annotations={\"software_pipeline_stage\": "
                    "[0, 0, 0, 1], \"software_pipeline_order\": [0, 1, 2, 3]}):\n"
                    "                S[tx] = A[k * 8 + tx]\n"
                    "                for j in T.serial(8, annotations={"
                    "\"software_pipeline_stage\": [0, 1], \"software_pipeline_order\": [0, 1]}):\n"
                    "                    with T.block(\"\"):\n"
                    "                        M = T.alloc_buffer((1,), scope=\"local\")\n"
                    "                        M[0] = S[j]\n"
                    "                        B[tx] = B[tx] + M[0]\n"),
     {"for k in T.serial(8", "M = T.alloc_buffer((2, 1)", "M[0, 0] = S[0]"},
     {NULL}},
    {"asynchronous copies are committed and waited for, and a barrier is behind",
     "ThreadSync",
     "sm_80",
     MAIN(BUF(A, 64) ", " BUF(B, 8),
          PIPELINED("\"software_pipeline_stage\": [0, 2], \"software_pipeline_order\": [1, 0], "
                    "\"software_pipeline_async_stages\": [0]")),
     {"with T.attr(0, \"async_scope\", 1):\n                S[threadIdx_x] = A[threadIdx_x]\n "
      "           T.ptx_commit_group()",
      "for k in range(6):\n                T.ptx_wait_group(1)\n                "
      "T.tvm_storage_sync(\"shared\")\n                B[threadIdx_x] = ",
      "S[(k + 2) % 3 * 8 + threadIdx_x] = A[",
      "T.ptx_wait_group(0)\n            T.tvm_storage_sync(\"shared\")"},
     {"software_pipeline", "T.ptx_wait_group(2)"}},
    {"a copy says how many bytes it is",
     "InjectPTXAsyncCopy",
     "sm_80",
     MAIN(BUF(A, 64) ", " BUF(B, 8),
          PIPELINED("\"software_pipeline_stage\": [0, 1], \"software_pipeline_order\": [1, 0], "
                    "\"software_pipeline_async_stages\": [0]")),
     {"with T.attr(S.data, \"async_copy\", 4):"},
     {"async_scope", "async_copy\", 0"}},
    {"where there are none, copies are plain ones",
     "InjectPTXAsyncCopy",
     "sm_75",
     MAIN(BUF(A, 64) ", " BUF(B, 8),
          PIPELINED("\"software_pipeline_stage\": [0, 1], \"software_pipeline_order\": [1, 0], "
                    "\"software_pipeline_async_stages\": [0]")),
     {"S[threadIdx_x] = A[threadIdx_x]"},
     {"async", "ptx"}},
    {"what lanes store far from each other is loaded at once",
     "SplitHostDevice",
     "sm_80",
     MAIN(BUF(A, 64) ", " BUF(B, 64),
          BX(1) TX(8) "            for v in T.vectorized(4):\n"
                      "                B[v * 16 + tx] = A[tx * 4 + v]\n"),
     {"lanes[0:4] = A[threadIdx_x * 4:threadIdx_x * 4 + 4]", "B[threadIdx_x + 48] = lanes[3]"},
     {"for v"}},
    {"a condition that is one for all lanes is one",
     "VectorizeLoop",
     "sm_80",
     MAIN(BUF(A, 64) ", " BUF(B, 64),
          BX(1) TX(16) "            for v in T.vectorized(4):\n"
                       "                B[tx * 4 + v] = T.if_then_else(tx * 4 + v < 40, A[tx * 4 + "
                       "v], T.float32(0))\n"),
     {"B[threadIdx_x * 4:threadIdx_x * 4 + 4] = T.if_then_else(threadIdx_x", "T.Broadcast("},
     {"for v"}},
    {"a loop that picks a thread's registers is unrolled by who compiles it",
     "UnrollLoop",
     "sm_80",
     MAIN(BUF(A, 64) ", " BUF(B, 8),
          LOCAL(L, 8) BX(1) TX(8) "            for i in range(8):\n"
                                  "                L[i] = A[i * 8 + tx]\n"
                                  "            for k in range(64):\n"
                                  "                B[tx] = B[tx] + L[3] * A[k]\n"),
     {"for i in T.unroll(8):", "for k in range(64):"},
     {NULL}},
    {"where there are none, through shared memory",
     "SplitHostDevice",
     "opencl",
     MAIN(BUF(A, 32) ", " BUF(B, 4), BX(4) TX(32) REDUCTION("32, tx")),
     {"red_buf0 = T.decl_buffer((32,), scope=\"shared\")",
      "if threadIdx_x < 16:", "T.tvm_storage_sync(\"shared\")\n                if threadIdx_x < 8:",
      "if threadIdx_x == 0:"},
     {"shuffle"}},
    {"a group of any size",
     "SplitHostDevice",
     "sm_80",
     MAIN(BUF(A, 6) ", " BUF(B, 4), BX(4) TX(6) REDUCTION("6, tx")),
     {"red_buf0 = T.decl_buffer((6,), scope=\"shared\")",
      "if threadIdx_x < 4 and threadIdx_x < 2:"},
     {"shuffle"}},
    {"steps of a thread's own",
     "LowerCrossThreadReduction",
     "sm_80",
     MAIN(BUF(A, 256) ", " BUF(B, 4),
          BX(4) TX(32) "           for k in range(8):\n" REDUCTION("256, k * 32 + tx")),
     {"in_thread_B[0] = T.float32(0.0)",
      "for k in range(8):", "in_thread_B[0] = in_thread_B[0] + A[vk]"},
     {"B[vi] ="}},
    {"shared memory that only a launch gives",
     "SplitHostDevice",
     "sm_80",
     MAIN(BUF(A, 16384) ", " BUF(B, 16384),
          SHARED(S, 16384) BX(1)
              TX(128) "            for i in range(128):\n"
                      "                S[i * 128 + tx] = A[i * 128 + tx]\n" TX(
                          128) "            for i in range(128):\n"
                               "                B[i * 128 + tx] = S[i * 128 + 127 - tx]\n"),
     {"S = T.decl_buffer((16384,), scope=\"shared.dyn\")"},
     {NULL}},
    {"arrays of a block begin at multiples of 32 bytes",
     "SplitHostDevice",
     "sm_75",
     MAIN(BUF(A, 12285) ", " BUF(B, 12285),
          SHARED(R, 1) SHARED(S, 12285) BX(1)
              TX(117) "            for i in range(105):\n"
                      "                S[i * 117 + tx] = A[i * 117 + tx]\n"
                      "        R[0] = A[0]\n" TX(
                          117) "            for i in range(105):\n"
                               "                B[i * 117 + tx] = S[i * 117 + 116 - tx] + R[0]\n"
                               ""),
     {"R = T.decl_buffer((1,), scope=\"shared.dyn\")",
      "S = T.decl_buffer((12285,), scope=\"shared.dyn\")"},
     {NULL}},
    {"a barrier of a loop that is written out, but for the first",
     "SplitHostDevice",
     "sm_80",
     MAIN(BUF(A, 16) ", " BUF(B, 8),
          SHARED(S, 8) LOCAL(L, 1) BX(1) TX(8) "            L[0] = T.float32(0)\n"
                                               "            for k in T.unroll(2):\n"
                                               "                S[tx] = A[k * 8 + tx]\n"
                                               "                L[0] = L[0] + S[7 - tx]\n"
                                               "            B[tx] = L[0]\n"),
     {"L[0] = T.float32(0.0)\n                S[threadIdx_x] = A[threadIdx_x]\n"},
     {NULL}},
    {"indices of 64 bits that fit 32",
     "SplitHostDevice",
     "sm_80",
     MAIN("A: T.Buffer((T.int64(32),), \"float32\"), B: T.Buffer((T.int64(32),), \"float32\")",
          BX(T.int64(4)) TX(T.int64(8)) "            B[bx * T.int64(8) + tx] = A[bx * T.int64(8) + "
                                        "T.int64(7) - tx]\n"),
     {"thread_binding(4, thread=\"blockIdx.x\")",
      "B[blockIdx_x * 8 + threadIdx_x] = A[blockIdx_x * 8 + 7 - threadIdx_x]"},
     {NULL}},
    {"a kernel's sizes are its parameters",
     "SplitHostDevice",
     "sm_80",
     MAIN("a: T.handle, b: T.handle",
          "    n = T.int32()\n    A = T.match_buffer(a, (n,))\n    B = T.match_buffer(b, (n,))\n"
          "    for bx in T.thread_binding((n + 31) // 32, thread=\"blockIdx.x\"):\n" TX(
              32) "            if bx * 32 + tx < n:\n"
                  "                B[bx * 32 + tx] = A[bx * 32 + tx]\n"),
     {"T.call_packed(\"main_kernel\", A.data, B.data, n, ",
      "if blockIdx_x * 32 + threadIdx_x < n:"},
     {NULL}},
};

typedef struct After {
  const char *pass, *text;
} After;

static void keep(void *self, const char *pass, const Module *m) {
  After *a = self;
  if (!strcmp(pass, a->pass)) a->text = tirc_print_module(m->c, m, NULL);
}

static void check_expectation(Tirc *c, const void *arg) {
  const Expectation *e = arg;
  After after = {.pass = e->pass};
  const Module *m = tirc_lower_for(c, parse(c, e->text), tirc_gpu_find(e->target), keep, &after);
  const char *text = tirc_print_module(c, m, NULL);
  Source source = {"printed", text, strlen(text)};
  assert_string_equal(text, tirc_print_module(c, tirc_parse_module(c, &source, 0, NULL), NULL));
  assert_non_null(after.text);
  for (int i = 0; i < 5; i++)
    if (e->must[i] && !strstr(after.text, e->must[i]))
      fail_msg("%s: no \"%s\" in\n%s", e->name, e->must[i], after.text);
  for (int i = 0; i < 3; i++)
    if (e->must_not[i] && strstr(after.text, e->must_not[i]))
      fail_msg("%s: \"%s\" in\n%s", e->name, e->must_not[i], after.text);
}

static void passes_achieve_what_they_are_for(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof expectations / sizeof *expectations; i++)
    in_context(expectations[i].name, check_expectation, &expectations[i]);
}

/* --- what is refused -------------------------------------------------------------------------- */

typedef struct Refusal {
  const char *target, *text;
  const char *says[3]; /* stand in the message */
} Refusal;

static const Refusal refusals[] = {
    {NULL,
     MAIN(BUF(A, 8), BX(1) TX(8) "            A[tx] = T.float32(1)\n"),
     {"threadIdx.x", "code for a processor has no thread axes"}},
    {"sm_80",
     MAIN(BUF(A, 8) ", " BUF(B, 8), BX(1) TX(8) "            A[tx] = T.float32(1)\n"
                                                "        for ty in T.thread_binding(4, "
                                                "thread=\"threadIdx.x\"):\n"
                                                "            B[ty] = T.float32(1)\n"),
     {"the loops tx and ty are bound to threadIdx.x", "extents 8 and 4"}},
    {"sm_80",
     MAIN(BUF(A, 64), BX(1) TX(8) "            for ty in T.thread_binding(8, "
                                  "thread=\"threadIdx.x\"):\n"
                                  "                A[tx * 8 + ty] = T.float32(1)\n"),
     {"the loop ty is bound to threadIdx.x inside the loop tx", "both variables are used"}},
    {"sm_80",
     MAIN(BUF(A, 8), "    for bx in T.thread_binding(4, thread=\"blockIdx.x\"):\n"
                     "        for tx in T.thread_binding(bx + 1, thread=\"threadIdx.x\"):\n"
                     "            A[tx] = T.float32(1)\n"),
     {"the extent bx + 1 of the loop tx"}},
    {"sm_80",
     MAIN(BUF(A, 2048), BX(1) TX(2048) "            A[tx] = T.float32(1)\n"),
     {"2048 threads", "threadIdx.x of 2048", "at most 1024"}},
    {"opencl-android",
     MAIN(BUF(A, 512), BX(1) TX(512) "            A[tx] = T.float32(1)\n"),
     {"512 threads", "opencl-android allows at most 256"}},
    {"sm_75",
     MAIN(BUF(A, 65536) ", " BUF(B, 65536),
          SHARED(S, 65536) BX(1)
              TX(64) "            for i in range(1024):\n"
                     "                S[i * 64 + tx] = A[i * 64 + tx]\n" TX(
                         64) "            for i in range(1024):\n"
                             "                B[i * 64 + tx] = S[i * 64 + 63 - tx]\n"),
     {"262144 bytes of shared memory, 262144 of them for S", "sm_75 has only 65536"}},
    {"sm_80",
     MAIN(BUF(A, 8) ", " BUF(B, 8), SHARED(S, 8) BX(1) TX(8) "            if tx < 4:\n"
                                                             "                S[tx] = A[tx]\n"
                                                             "                B[tx] = S[3 - tx]\n"),
     {"one element of S", "S[threadIdx_x] = A[threadIdx_x]", "a branch that not all threads take"}},
    {"sm_80",
     MAIN(BUF(A, 8) ", " BUF(B, 8), SHARED(S, 8) BX(1) TX(8) "            for i in range(tx):\n"
                                                             "                S[tx] = A[tx]\n"
                                                             "                B[tx] = S[7 - tx]\n"),
     {"one element of S", "a loop whose length differs between threads"}},
    /* what a let's value reads, its body stores; what a step stores, the next one reads */
    {"sm_80",
     MAIN(BUF(A, 8), SHARED(S, 8) BX(1) TX(8) "            if tx < 4:\n"
                                              "                v = T.float32()\n"
                                              "                with T.LetStmt(S[3 - tx], var=v):\n"
                                              "                    S[tx] = v\n"),
     {"one element of S", "a branch that not all threads take"}},
    {"sm_80",
     MAIN(BUF(A, 8) ", " BUF(B, 8),
          SHARED(S, 72) BX(1) TX(8) "            if tx < 4:\n"
                                    "                for i in range(8):\n"
                                    "                    B[tx] = B[tx] + S[i * 8 + 3 - tx]\n"
                                    "                    S[i * 8 + 8 + tx] = A[tx]\n"),
     {"one element of S", "a branch that not all threads take"}},
    {"sm_80",
     MAIN(BUF(A, 128), BX(1) "        for tz in T.thread_binding(128, thread=\"threadIdx.z\"):\n"
                             "            A[tz] = T.float32(1)\n"),
     {"threadIdx.z has 128 threads", "at most 64 along this axis"}},
    {"sm_80",
     MAIN(BUF(A, 8), SHARED(S, 8) BX(1) TX(
                         8) "            S[tx] = S[7 - tx] + A[tx]\n            A[tx] = S[tx]\n"),
     {"one element of S", "there cannot be a barrier inside a statement"}},
    {"sm_80",
     MAIN(BUF(A, 8) ", " BUF(B, 8), SHARED(S, 8) BX(1) TX(8) "            S[tx] = A[tx]\n" BX(1)
                                        TX(8) "            B[tx] = S[tx]\n"),
     {"S of scope shared", "outside a single kernel"}},
    {"sm_80",
     MAIN(BUF(A, 32) ", " BUF(B, 4),
          BX(4) TX(32) "            with T.block(\"B\"):\n"
                       "                vi = T.axis.spatial(4, bx)\n"
                       "                vk = T.axis.reduce(32, tx)\n"
                       "                with T.init():\n                    B[vi] = T.float32(0)\n"
                       "                B[vi] = B[vi] * B[vi] + A[vk]\n"),
     {"the threads of block B reduce together"}},
    {"sm_80",
     MAIN(BUF(A, 8),
          SHARED(S, 8) BX(1) TX(8) "            S[tx] = A[tx]\n"
                                   "            T.call_extern(\"int32\", \"f\", S.data)\n"),
     {"passes on the pointer S"}},
    {"sm_80",
     MAIN("a: T.handle", "    n = T.int32()\n    A = T.match_buffer(a, (n,))\n" BX(
                             1) "        for tx in T.thread_binding(n, thread=\"threadIdx.x\"):\n"
                                "            A[tx] = T.float32(1)\n"),
     {"has the extent n", "must be a constant"}},
    {"sm_80",
     MAIN("a: T.handle", "    n = T.int32()\n    A = T.match_buffer(a, (4, n))\n    S = "
                         "T.alloc_buffer((4, n), scope=\"shared\")\n" BX(4)
                             TX(8) "            for i in range(n):\n"
                                   "                S[bx, i] = A[bx, i]\n" TX(
                                       8) "            for i in range(n):\n"
                                          "                A[bx, i] = S[bx, n - 1 - i]\n"),
     {"the size of the buffer S of scope shared depends on n,",
      "memory that each block of threads has of its own needs a constant size"}},
    {"sm_80",
     MAIN("a: T.handle", "    n = T.int32()\n    A = T.match_buffer(a, (4, n))\n    S = "
                         "T.alloc_buffer((4, n), scope=\"local\")\n" BX(4)
                             TX(8) "            for i in range(n):\n"
                                   "                S[bx, i] = A[bx, i]\n"
                                   "            for i in range(n):\n"
                                   "                A[bx, i] = S[bx, n - 1 - i]\n"),
     {"the size of the buffer S of scope local depends on n,",
      "memory that each thread has of its own needs a constant size"}},
    {"sm_80",
     MAIN(BUF(A, 65536), "    for b in T.thread_binding(65536, thread=\"blockIdx.y\"):\n"
                         "        for tx in T.thread_binding(1, thread=\"threadIdx.x\"):\n"
                         "            A[b] = T.float32(1)\n"),
     {"blockIdx.y has 65536 blocks", "at most 65535 along this axis"}},
    {"sm_80",
     MAIN(BUF(A, 64) ", " BUF(B, 8),
          PIPELINED("\"software_pipeline_stage\": [0, 1], \"software_pipeline_order\": [0, 1], "
                    "\"software_pipeline_async_stages\": [1]")),
     {"the stage 1 of the loop k is asynchronous, but stores to B of scope global"}},
    {"sm_80",
     MAIN(BUF(A, 64) ", " BUF(B, 8),
          PIPELINED("\"software_pipeline_stage\": [0, 1], \"software_pipeline_order\": [0, 1], "
                    "\"software_pipeline_async_stages\": [2]")),
     {"software_pipeline_async_stages of the loop k names the stage 2, but no statement is in that "
      "stage"}},
    {"sm_80",
     MAIN(BUF(A, 64) ", " BUF(B, 8),
          PIPELINED("\"software_pipeline_stage\": [0, 1], \"software_pipeline_order\": [0, 1], "
                    "\"software_pipeline_async_stages\": 1")),
     {"software_pipeline_async_stages of the loop k is not a list of stages"}},
    {"sm_80",
     MAIN(BUF(A, 64) ", " BUF(B, 8),
          PIPELINED("\"software_pipeline_stage\": [0, 1], \"software_pipeline_order\": [0, 0]")),
     {"software_pipeline_order of the loop k is not a permutation"}},
    {"sm_80",
     MAIN(BUF(A, 64) ", " BUF(B, 8),
          PIPELINED("\"software_pipeline_stage\": [0, 1], \"software_pipeline_order\": [1, 2]")),
     {"software_pipeline_order of the loop k is not a permutation"}},
    {"sm_80",
     MAIN(BUF(A, 64) ", " BUF(B, 8),
          PIPELINED("\"software_pipeline_stage\": [0, -1], \"software_pipeline_order\": [0, 1]")),
     {"software_pipeline_stage of the loop k is not a list of stages"}},
    {"sm_80",
     MAIN(BUF(A, 64) ", " BUF(B, 8),
          PIPELINED("\"software_pipeline_stage\": 1, \"software_pipeline_order\": [0, 1]")),
     {"software_pipeline_stage of the loop k is not a list of stages"}},
    {"sm_80",
     MAIN(BUF(A, 64) ", " BUF(B, 8), PIPELINED("\"software_pipeline_stage\": [0, 1]")),
     {"the loop k has software_pipeline_stage but not software_pipeline_order"}},
    {"sm_80",
     MAIN(BUF(A, 64) ", " BUF(B, 8), PIPELINED("\"software_pipeline_order\": [0, 1]")),
     {"the loop k has software_pipeline_order but not software_pipeline_stage"}},
    {"sm_80",
     MAIN(BUF(A, 64) ", " BUF(B, 8),
          PIPELINED("\"software_pipeline_stage\": [0, 0, 1], \"software_pipeline_order\": [0, 1]")),
     {"the loop k has 3 numbers in software_pipeline_stage and 2"}},
    {"sm_80",
     MAIN(BUF(A, 64) ", " BUF(B, 8),
          PIPELINED(
              "\"software_pipeline_stage\": [0, 0, 1], \"software_pipeline_order\": [0, 1, 2]")),
     {"the loop k has 2 statements, and software_pipeline_stage has 3 numbers"}},
};

static void check_refusal(Tirc *c, const void *arg) {
  const Refusal *r = arg;
  const Module *m = parse(c, r->text);
  Trap trap;
  if (TIRC_TRY(c, trap)) {
    m = tirc_lower_for(c, m, r->target ? tirc_gpu_find(r->target) : NULL, NULL, NULL);
    TIRC_END(c, trap);
    fail_msg("lowered:\n%s\nto\n%s", r->text, tirc_print_module(c, m, NULL));
  }
  assert_string_equal(tirc_codes[c->diag.code].text, "lower");
  assert_int_equal(c->diag.status, TIRC_STATUS_BAD);
  for (int i = 0; i < 3; i++)
    if (r->says[i] && !strstr(c->diag.message, r->says[i]))
      fail_msg("no \"%s\" in \"%s\" for\n%s", r->says[i], c->diag.message, r->text);
}

static void what_cannot_be_a_kernel_is_an_error(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++)
    in_context(refusals[i].says[0], check_refusal, &refusals[i]);
}

static void targets_have_limits(void **state) {
  (void)state;
  assert_string_equal(tirc_gpu_find("nvidia/nvidia-t4")->name, "sm_75");
  assert_null(tirc_gpu_find("sm_81"));
  for (int i = 0; tirc_gpu_number(i); i++) {
    const Gpu *g = tirc_gpu_number(i);
    assert_true(g->threads >= 256 && g->warp >= 1 && g->shared <= g->shared_dyn);
  }
  const char *tag, *row;
  for (int i = 0; tirc_gpu_card(i, &tag, &row); i++) assert_non_null(tirc_gpu_find(tag));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(passes_achieve_what_they_are_for),
      cmocka_unit_test(what_cannot_be_a_kernel_is_an_error),
      cmocka_unit_test(targets_have_limits),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
