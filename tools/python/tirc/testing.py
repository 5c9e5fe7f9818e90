"""tirc.testing: what tests of programs say."""

__path__ = []  # what is imported below it is asked for by name

import sys


def assert_allclose(actual, desired, rtol=1e-7, atol=1e-7):
    """numpy's, with TVM's tolerances; the shapes must be equal."""
    import numpy
    actual, desired = numpy.asanyarray(actual), numpy.asanyarray(desired)
    if actual.shape != desired.shape:
        raise AssertionError("the shapes are %s and %s" % (actual.shape, desired.shape))
    numpy.testing.assert_allclose(actual, desired, rtol=rtol, atol=atol, verbose=True)


def main():
    """Runs the tests of the file that calls it, by pytest; its status is the process's."""
    import pytest
    from ._source import caller
    sys.exit(pytest.main([caller().f_code.co_filename] + sys.argv[1:]))


def device_enabled(target):
    """Whether programs for the target run on this machine."""
    from ._runtime import gpu_of
    from ._device import Device
    gpu = gpu_of(target)
    return gpu is None or Device("opencl" if gpu.startswith(b"opencl") else "cuda").exist


def enabled_targets():
    """(target, device) of each kind that this machine has."""
    from ._device import Device
    from ._runtime import Target
    return [(Target(t), d) for t, d in (("llvm", Device("cpu")), ("cuda", Device("cuda")), ("opencl", Device("opencl"))) if d.exist]


def _requires(kind):
    def mark(function=None):
        import pytest
        from ._device import Device
        made = pytest.mark.skipif(not Device(kind).exist, reason="there is no device of kind %s" % kind)
        return [made] if function is None else made(function)
    return mark


requires_llvm, requires_cuda, requires_opencl = map(_requires, ("cpu", "cuda", "opencl"))
requires_gpu = requires_cuda


def parameter(*values, ids=None, by_dict=None):
    """A fixture that gives one value to each test."""
    import pytest
    if by_dict is not None:
        ids, values = list(by_dict), list(by_dict.values())

    @pytest.fixture(params=values, ids=ids)
    def fixture(request):
        return request.param
    return fixture


__all__ = ["assert_allclose", "device_enabled", "enabled_targets", "main", "parameter", "requires_cuda", "requires_gpu", "requires_llvm",
           "requires_opencl"]
