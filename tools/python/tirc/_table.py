"""The names of the reference that are here, in one table, and what is said of each: its own words where it has some. A page of the
guide is made of it (python3 -m tirc._table), and a test has an assertion for each name."""

import re

# "module: name name=words with_underscores name"; a name without words says itself what it is
TABLE = """
tirc: build compile lower cpu=the_processor cuda=a_GPU_by_CUDA opencl=a_GPU_by_OpenCL device register_func get_global_func IRModule DataType DataTypeCode emulate steps
testing: assert_allclose main device_enabled enabled_targets requires_llvm=a_mark_of_tests requires_cuda=a_mark_of_tests:_skipped_where_there_is_none requires_gpu=the_same requires_opencl=the_same_of_OpenCL parameter
runtime: tensor empty=a_tensor_of_zeros Tensor NDArray convert load_module Module Device Object ndarray BenchmarkResult ShapeTuple=tuple
ir: save_json load_json structural_equal structural_hash assert_structural_equal=an_error_that_says_the_first_difference GlobalVar Range PrimExpr Object
ir.module: IRModule
ir.transform: Sequential module_pass ModulePass Pass PassInfo=name,_opt_level_and_required_of_a_pass PassContext
target: Target TargetKind cuda
target.target: Target
tir: Schedule TensorIntrin PrimFunc Buffer IndexMap IterVar=kinds_of_iterators ForKind=kinds_of_loops
tir: Var=a_variable const=a_number_of_a_type IntImm FloatImm=a_number_of_a_type PrimExpr Cast=an_expression_in_another_type
tir: Add=a_+_b Sub=a_-_b Mul=a_*_b FloorDiv=a_//_b FloorMod=a_%_b Max=the_greater Min=the_lesser EQ=a_==_b NE=a_!=_b LT=a_<_b LE=a_<=_b GT=a_>_b GE=a_>=_b
tir: And=both Or=one_of_two Not=the_contrary Select=one_of_two_values_which_are_both_computed BufferLoad=an_element
tir: if_then_else=one_of_two_values all=all_conditions any=one_of_the_conditions max=the_greater min=the_lesser exp=as_all_functions_of_the_language
tir: ceildiv=the_quotient_upwards floordiv=the_quotient_downwards floormod=its_rest indexdiv=the_quotient_of_indices indexmod=its_rest truncdiv=the_quotient_towards_zero
tir: div sum convert call_intrin max_value=the_greatest_number_of_a_type min_value=the_least_number_of_a_type
tir: Block=a_view_of_a_block BlockRealize=the_same For=a_view_of_a_loop BufferStore=a_view_of_a_store SeqStmt=a_view_of_several_statements
tir.expr: Var=as_in_tir
tir.stmt: For=as_in_tir
tir.op: max=as_in_tir
tir.buffer: Buffer
tir.function: PrimFunc TensorIntrin
tir.analysis: verify_well_formed estimate_tir_flops expr_deep_equal
tir.stmt_functor: post_order_visit pre_order_visit
tir.schedule: Schedule BlockRV LoopRV ExprRV Instruction InstructionKind Trace ScheduleState ScheduleDebugMask ScheduleError StmtSRef DepKind CachedFlags BlockScope has_block
tir.schedule.schedule: ScheduleError
tir.schedule.trace: Trace
tir.schedule.analysis: has_block is_output_block get_tensorize_loop_mapping get_auto_tensorize_mapping_info TensorizeInfo AutoTensorizeMappingInfo
tir.schedule.transform: tile_with_tensor_intrin
tir.transform: passes BindTarget Filter prim_func_pass
tirx: Var=a_variable Expr SBlock=a_view_of_a_block
s_tir: Schedule renew_defs dlight=tirc.dlight meta_schedule=tirc.meta_schedule
s_tir.schedule: SBlockRV
arith: Analyzer
te: placeholder=a_tensor_that_is_given compute=a_tensor_of_a_function_of_its_indices reduce_axis=what_a_sum_runs_over var=an_extent_that_only_the_run_tells
te: const=a_number_of_a_type sum=the_sum_over_axes max=the_greatest_over_axes min=the_least_over_axes comm_reducer create_prim_func extern_primfunc Tensor
te: indexdiv indexmod=its_rest
topi: add=as_every_operator_of_graphs matmul=the_product cast=in_another_type concatenate=one_behind_the_other transpose=axes_in_another_order expand_dims=more_axes reshape=the_same_elements_in_another_shape
topi: split=parts_along_an_axis strided_slice=a_part take=elements_that_indices_name gather=elements_that_indices_name arange=numbers_in_steps full=one_number_everywhere trilu=a_triangle argmax=where_the_greatest_is argmin=where_the_least_is
topi.nn: dense matmul=the_product batch_matmul=the_product_of_stacks conv2d=a_convolution conv2d_nchw=a_convolution conv2d_nhwc=a_convolution group_conv2d_nchw=one_in_groups depthwise_conv2d_nchw conv2d_transpose_nchw=the_transposed_convolution
topi.nn: pad=zeros_around pool2d=the_greatest_or_mean_of_windows global_pool=the_same_of_all adaptive_pool=into_a_size relu=as_every_operator_R.nn leaky_relu=smaller_below_zero
topi.nn: flatten bias_add=a_number_a_channel layer_norm=as_R.nn.layer_norm rms_norm=as_R.nn.rms_norm scale_shift_nchw=a_factor_and_a_number_a_channel softmax=as_R.nn.softmax
topi.utils: get_const_int get_const_tuple
relax: build VirtualMachine=runs_what_relax.build_made Executable Function BlockBuilder Var DataflowVar Expr TensorStructInfo ShapeExpr=extents_as_a_value Tuple=several_values TupleGetItem=one_of_them const call_tir call_dps_packed get_pipeline get_default_pipeline=the_same_for_a_target
relax.op: add=as_every_operator_of_graphs nn=those_of_networks
relax.analysis: well_formed
relax.transform: LegalizeOps=as_every_pass_of_`tirc_explain_passes` BindParams phases
relax.frontend: detach_params
relax.frontend.onnx: from_onnx
meta_schedule: tune_tir compile_tir Database JSONDatabase
meta_schedule.tir_integration: tune_tir compile_tir
meta_schedule.space_generator: ScheduleFn
meta_schedule.testing.te_workload: matmul=tensors_of_a_product matmul_relu=with_what_follows batch_matmul_nkkm=of_stacks transpose_batch_matmul=of_an_attention conv1d_nlc=a_convolution conv2d_nhwc=a_convolution conv2d_nchw=a_convolution depthwise_conv2d_nhwc=a_channel_at_a_time softmax_mn=shares_of_rows norm_bmn=lengths_of_matrices
dlight: ApplyDefaultSchedule ScheduleRule
dlight.gpu: Matmul LowBatchGEMV GEMV Reduction GeneralReduction RMSNorm Transpose Fallback
contrib.utils: tempdir TempDirectory
script: from_source ir_module=a_decorator_of_classes
"""


def rows():
    """[(module, name, words or None)] of the table."""
    out = []
    for line in TABLE.strip().split("\n"):
        module, _, names = line.partition(": ")
        for each in names.split():
            name, _, words = each.partition("=")
            out.append((module, name, words.replace("_", " ") or None))
    return out


def path(module, name):
    return name if module == "tirc" else "%s.%s" % (module, name)


def find(module, name):
    """What a name is."""
    import importlib
    package = __package__
    return getattr(importlib.import_module(package if module == "tirc" else "%s.%s" % (package, module)), name)


def _words(module, name, words):
    if words:
        return words
    text = (find(module, name).__doc__ or "").strip().partition("\n\n")[0].replace("\n", " ")
    while "  " in text:
        text = text.replace("  ", " ")
    return re.split(r"(?<!\.)[.:] ", text)[0].rstrip(".:").replace("|", "\\|")


def page():
    """The tables of the page, as text."""
    from ._doors import INSTEAD
    out, last = [], None
    for module, name, words in rows():
        if module != last:
            out += ["", "| `%s` | |" % ("tirc." + module if module != "tirc" else module), "|---|---|"]
            last = module
        out.append("| `%s` | %s |" % (name, _words(module, name, words)))
    out += ["", "What is not there says what to use instead:", "", "| name | instead |", "|---|---|"]
    out += ["| `%s` | %s |" % (name, use.replace("|", "\\|")) for name, use in sorted(INSTEAD.items())]
    return "\n".join(out).lstrip("\n")


if __name__ == "__main__":
    print(page())
