"""tirc.s_tir.tensor_intrin: as tirc.tir's."""
