"""The structs of _lib.py are those of tirc.h: compared through a C compiler, where there is one."""

import ctypes
import shutil
import subprocess

import pytest

from support import SOURCE
from tirc import _lib, _tune

STRUCTS = {
    "tirc_value": _lib.Value, "tirc_function": _lib.Function, "tirc_define": _lib.Define,
    "tirc_schedule_options": _lib.ScheduleOptions, "tirc_auto_options": _lib.AutoOptions, "tirc_param": _lib.Param,
    "tirc_primitive_info": _lib.PrimitiveInfo, "tirc_primitive_doc": _lib.PrimitiveDoc,
    "tirc_tune_task": _tune.Task, "tirc_tune_event": _tune.Event, "tirc_tune_failure": _tune.Failure,
    "tirc_tune_result": _tune.Result, "tirc_tune_options": _tune.Options, "tirc_argument": _lib.Argument, "tirc_check": _lib.Check, "tirc_reference_options": _lib.ReferenceOptions, "DLTensor": _lib.DLTensor, "DLDataType": _lib.DLDataType,
}
KINDS = "NONE BOOL INT FLOAT STR LIST TUPLE DICT BLOCK LOOP EXPR BUFFER OBJECT FUNCTION SCRIPT".split()


def test_links_that_lead_nowhere_are_passed_over(tmp_path, monkeypatch):
    (tmp_path / "runtime").mkdir()
    (tmp_path / "runtime" / "tirc.h").touch()
    for name in "build", "build-gone":
        (tmp_path / name).mkdir()
    (tmp_path / "build" / _lib._NAME).touch()
    (tmp_path / "build-gone" / _lib._NAME).symlink_to(tmp_path / "nothing")
    monkeypatch.setattr(_lib, "__file__", str(tmp_path / "tools" / "python" / "tirc" / "_lib.py"))
    monkeypatch.delenv("TIRC_LIBRARY", raising=False)
    assert list(_lib._candidates()) == [str(tmp_path / "build" / _lib._NAME), _lib._NAME]


def test_structs_and_kinds(tmp_path):
    cc = shutil.which("cc")
    if not cc:
        pytest.skip("no C compiler")
    checks = ["_Static_assert(TIRC_ABI == %d, \"ABI\");" % _lib.ABI]
    for name, struct in STRUCTS.items():
        checks.append('_Static_assert(sizeof(%s) == %d, "%s");' % (name, ctypes.sizeof(struct), name))
        for field, _ in struct._fields_:
            offset = getattr(struct, field).offset
            checks.append('_Static_assert(offsetof(%s, %s) == %d, "%s.%s");' % (name, field, offset, name, field))
    for i, kind in enumerate(KINDS):
        assert getattr(_lib, kind) == i
        checks.append('_Static_assert(TIRC_KIND_%s == %d, "%s");' % (kind, i, kind))
    for i, field in enumerate("CODE MESSAGE HINT FILE EXCERPT PRIMITIVE CALL CONDITION IR".split()):
        checks.append('_Static_assert(TIRC_ERROR_%s == %d, "%s");' % (field, i, field))
    for i, kind in enumerate("LLVM ASM OBJECT HEADER".split()):
        checks.append('_Static_assert(TIRC_EMIT_%s == %d, "%s");' % (kind, i, kind))
    source = tmp_path / "abi.c"
    source.write_text("#include <tirc.h>\n" + "\n".join(checks) + "\n")
    subprocess.run([cc, "-std=gnu17", "-fsyntax-only", "-I", str(SOURCE / "runtime"), str(source)], check=True)
