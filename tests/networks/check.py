"""The small networks that networks.py makes: results as numpy has them, and each function as the interpreter computes it."""
import os
import subprocess
import sys
import tempfile

TIRC = os.path.abspath(sys.argv[1])
MAKE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "networks.py")


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(command)}: {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout + done.stderr


def make(name, folder, seed):
    run(sys.executable, MAKE, name, folder, "--seed", str(seed))
    return os.path.join(folder, "model.onnx")


with tempfile.TemporaryDirectory() as folder:
    for name in "small_residual", "small_attention":
        model = make(name, folder, 1)
        told = run(TIRC, "run", model, "--test-data", folder, "--check")
        assert "check: ok" in told and "output 0" in told, told
    os.rename(folder + "/output_0.pb", folder + "/kept")
    model = make(name, folder, 2)  # with other weights the result is another, or they count for nothing
    os.rename(folder + "/kept", folder + "/output_0.pb")
    wrong = subprocess.run([TIRC, "run", model, "--test-data", folder], capture_output=True, text=True)
    assert wrong.returncode == 1 and "FAILED" in wrong.stdout + wrong.stderr, wrong
