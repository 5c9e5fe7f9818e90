"""TVM's names that exist here, in one table, with a description of each: its docstring if none is given. A page of the guide is made
from it (python3 -m tirc._table), and a test has an assertion for each name."""

import re

# "module: name name=words_with_underscores name", where __ is an underscore; a name without words has a docstring
TABLE = """
tirc: build compile lower cpu=the_device_of_the_processor cuda=the_device_of_a_GPU,_through_CUDA opencl=the_device_of_a_GPU,_through_OpenCL device register_func get_global_func IRModule DataType DataTypeCode emulate steps
testing: assert_allclose main device_enabled enabled_targets requires_llvm=marks_a_test_that_needs_LLVM requires_cuda=marks_a_test_that_is_skipped_without_such_a_device requires_gpu=the_same requires_opencl=the_same_for_OpenCL parameter
runtime: tensor empty=a_new_tensor,_filled_with_zeros Tensor NDArray convert load_module Module Device Object ndarray BenchmarkResult ShapeTuple=tuple
ir: save_json load_json structural_equal structural_hash assert_structural_equal=raises_an_error_with_the_first_difference GlobalVar Op Range PrimExpr Object
ir.module: IRModule
ir.transform: Sequential module_pass ModulePass Pass PassInfo=name,_opt__level_and_required_of_a_pass PassContext
target: Target TargetKind cuda
target.target: Target
tir: Schedule TensorIntrin PrimFunc Buffer IndexMap IterVar=the_kinds_of_iterators ForKind=the_kinds_of_loops
tir: Var=a_variable const=a_number_of_the_given_type IntImm FloatImm=a_number_of_the_given_type PrimExpr Cast=an_expression_in_another_type
tir: Add=a_+_b Sub=a_-_b Mul=a_*_b FloorDiv=a_//_b FloorMod=a_%_b Max=the_maximum_of_two_values Min=the_minimum_of_two_values EQ=a_==_b NE=a_!=_b LT=a_<_b LE=a_<=_b GT=a_>_b GE=a_>=_b
tir: And=whether_both_conditions_hold Or=whether_one_of_two_conditions_holds Not=whether_a_condition_does_not_hold Select=one_of_two_values;_both_are_computed BufferLoad=an_element_of_a_buffer
tir: if_then_else=one_of_two_values;_only_that_one_is_computed all=whether_all_conditions_hold any=whether_one_of_the_conditions_holds max=the_maximum_of_two_values min=the_minimum_of_two_values exp=like_all_functions_of_the_language
tir: ceildiv=the_quotient,_rounded_up floordiv=the_quotient,_rounded_down floormod=the_remainder_of_floordiv indexdiv=the_quotient_of_indices indexmod=the_remainder_of_indexdiv truncdiv=the_quotient,_rounded_towards_zero
tir: build=like_tirc.build div sum convert decl_buffer call_intrin max_value=the_largest_number_of_a_type min_value=the_smallest_number_of_a_type
tir: Block=a_view_of_a_block BlockRealize=the_same For=a_view_of_a_loop BufferStore=a_view_of_a_store SeqStmt=a_view_of_several_statements
tir.expr: Var=the_same_as_in_tir
tir.stmt: For=the_same_as_in_tir
tir.op: max=the_same_as_in_tir
tir.buffer: Buffer
tir.function: PrimFunc TensorIntrin
tir.analysis: verify_well_formed verify_gpu_code verify_memory estimate_tir_flops expr_deep_equal
tir.stmt_functor: post_order_visit pre_order_visit
tir.schedule: Schedule BlockRV LoopRV ExprRV Instruction InstructionKind Trace ScheduleState ScheduleDebugMask ScheduleError StmtSRef DepKind CachedFlags BlockScope has_block
tir.schedule.schedule: ScheduleError
tir.schedule.trace: Trace
tir.schedule.analysis: has_block is_output_block get_tensorize_loop_mapping get_auto_tensorize_mapping_info TensorizeInfo AutoTensorizeMappingInfo
tir.schedule.transform: tile_with_tensor_intrin
tir.transform: passes BindTarget Filter prim_func_pass
tir.tensor_intrin.cuda: get_mma_intrin_group get_wmma_intrin_group
tirx: Var=a_variable Expr SBlock=a_view_of_a_block
s_tir: Schedule renew_defs dlight=tirc.dlight meta_schedule=tirc.meta__schedule
s_tir.schedule: SBlockRV
arith: Analyzer ConstIntBound ModularSet
te: placeholder=an_input_tensor compute=a_tensor,_given_by_a_function_of_its_indices reduce_axis=the_axis_of_a_reduction var=a_symbolic_extent
te: const=a_number_of_the_given_type sum=the_sum_over_axes max=the_maximum_over_axes min=the_minimum_over_axes comm_reducer create_prim_func extern_primfunc Tensor
te: indexdiv indexmod=the_remainder_of_indexdiv
topi: add=like_every_graph_operator matmul=the_matrix_product cast=converts_to_another_type concatenate=joins_tensors_along_an_axis transpose=puts_the_axes_into_another_order expand_dims=adds_axes reshape=the_same_elements_in_another_shape
topi: split=parts_along_an_axis strided_slice=a_slice_with_strides take=the_elements_at_given_indices gather=the_elements_at_given_indices arange=evenly_spaced_numbers full=one_number_everywhere trilu=the_upper_or_lower_triangle argmax=the_index_of_the_maximum argmin=the_index_of_the_minimum
topi.nn: dense matmul=the_matrix_product batch_matmul=the_product_of_batches_of_matrices conv2d=a_convolution conv2d_nchw=a_convolution conv2d_nhwc=a_convolution group_conv2d_nchw=a_convolution_in_groups depthwise_conv2d_nchw conv2d_transpose_nchw=the_transposed_convolution
topi.nn: pad=pads_with_zeros pool2d=the_maximum_or_mean_of_windows global_pool=the_same_over_all_elements adaptive_pool=pools_to_a_given_size relu=like_every_operator_R.nn leaky_relu=relu_with_a_slope_below_zero
topi.nn: flatten bias_add=adds_one_number_for_each_channel layer_norm=like_R.nn.layer__norm rms_norm=like_R.nn.rms__norm scale_shift_nchw=scales_and_shifts_each_channel softmax=like_R.nn.softmax
topi.utils: get_const_int get_const_tuple
relax: PyExprMutator PyExprVisitor Call Constant VarBinding BindingBlock DataflowBlock SeqExpr build VirtualMachine=runs_the_result_of_relax.build Executable Function BlockBuilder Var DataflowVar Expr TensorStructInfo ShapeExpr Tuple TupleGetItem const call_tir call_dps_packed get_pipeline get_default_pipeline=the_same_for_a_target
relax.op: add=like_every_graph_operator nn=the_operators_of_networks
relax.expr_functor: PyExprMutator=the_same_as_in_relax mutator visitor
relax.analysis: well_formed post_order_visit
relax.transform: LegalizeOps=like_every_pass_of_`tirc_explain_passes` BindParams FuseOpsByPattern function_pass phases
relax.frontend: detach_params
relax.frontend.onnx: from_onnx
relax.dpl: is_op wildcard is_const is_tuple_get_item rewrite_call
meta_schedule: tune_tir compile_tir tune_relax=the_same_as_in_relax__integration compile_relax=the_same_as_in_relax__integration extract_tasks=the_same_as_in_relax__integration Database JSONDatabase MemoryDatabase
meta_schedule.database: TuningRecord Workload
meta_schedule.tir_integration: tune_tir compile_tir
meta_schedule.relax_integration: extract_tasks tune_relax compile_relax ExtractedTask
meta_schedule.space_generator: ScheduleFn
meta_schedule.testing.te_workload: matmul=the_tensors_of_a_matrix_product matmul_relu=a_matrix_product,_then_relu batch_matmul_nkkm=a_product_of_batches_of_matrices transpose_batch_matmul=the_product_of_an_attention conv1d_nlc=a_convolution conv2d_nhwc=a_convolution conv2d_nchw=a_convolution depthwise_conv2d_nhwc=a_depthwise_convolution softmax_mn=softmax_of_rows norm_bmn=the_norms_of_matrices
dlight: ApplyDefaultSchedule ScheduleRule
dlight.gpu: Matmul LowBatchGEMV GEMV Reduction GeneralReduction RMSNorm Transpose Fallback
contrib.utils: tempdir TempDirectory
script: from_source ir_module=a_decorator_for_classes parser=the_same_as_script:_parser.tir_is_script.tir
"""


def rows():
    """[(module, name, words or None)] of the table."""
    out = []
    for line in TABLE.strip().split("\n"):
        module, _, names = line.partition(": ")
        for each in names.split():
            name, _, words = each.partition("=")
            out.append((module, name, re.sub("_(?!_)(?<!__)", " ", words).replace("__", "_") or None))
    return out


def path(module, name):
    return name if module == "tirc" else "%s.%s" % (module, name)


def find(module, name):
    """What a name is."""
    import importlib
    package = __package__
    return getattr(importlib.import_module(package if module == "tirc" else "%s.%s" % (package, module)), name)


def _words(module, name, words):
    if words:  # a sentence begins with a capital; a name, or a + b, stays as it is
        return words[0].upper() + words[1:] if re.match(r"(a|[a-z]{2,}) [\w`]", words) else words
    text = (find(module, name).__doc__ or "").strip().partition("\n\n")[0].replace("\n", " ")
    while "  " in text:
        text = text.replace("  ", " ")
    return re.split(r"(?<!\.)\. ", text)[0].rstrip(".:").replace("|", "\\|")


def page():
    """The tables of the page, as text."""
    from ._doors import INSTEAD
    out, last = [], None
    for module, name, words in rows():
        if module != last:
            out += ["", "| `%s` | |" % ("tirc." + module if module != "tirc" else module), "|---|---|"]
            last = module
        out.append("| `%s` | %s |" % (name, _words(module, name, words)))
    out += ["", "These names only say what to use instead:", "", "| name | instead |", "|---|---|"]
    out += ["| `%s` | %s |" % (name, use.replace("|", "\\|")) for name, use in sorted(INSTEAD.items())]
    return "\n".join(out).lstrip("\n")


if __name__ == "__main__":
    print(page())
