"""tirc.tir.tensor_intrin: the names of intrinsics that come with the library."""
