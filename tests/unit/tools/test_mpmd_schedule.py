"""`mpmd-schedule`: what it prints, its exit codes, and never a traceback."""

import io
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from mpmd.schedules.registry import FAMILIES
from mpmd.tools import mpmd_schedule
from mpmd.tools.schedule.command import run


def command(*arguments):
    out, err = io.StringIO(), io.StringIO()
    code = run([str(argument) for argument in arguments], out, err)
    return code, out.getvalue(), err.getvalue()


def answer(*arguments):
    code, out, err = command(*arguments)
    assert (code, err) == (0, "")
    return out


def test_prints_grid_and_numbers():
    assert answer("GPipe", "-p", 2, "-m", 2) == (
        "GPipe: 2 stages on 2 meshes, 2 microbatches\n\n"
        "mesh 0 | 0F0 0F1 .   .   .   0B0 -   0B1 -\n"
        "mesh 1 | .   1F0 1F1 1B0 -   1B1 -   .   .\n\n"
        "step time      9\n"
        "bubble         33.3%, per mesh 3\n"
        "peak memory    2, per mesh 2\n"
        "critical path  0F0 1F0 1F1 1B0 0B0 0B1\n"
    )


@pytest.mark.parametrize("name", [*sorted(FAMILIES), "Auto"])
def test_every_schedule(name):
    assert answer(name, "-p", 3, "-m", 4).startswith(f"{name}: ")


def test_stages_per_mesh_and_columns():
    out = answer("Interleaved1F1B", "-p", 2, "-m", 2, "-v", 3, "--columns", 4, "--unit", 2)
    assert "6 stages on 2 meshes" in out
    assert len(out.splitlines()[2].split("|")[1].split()) == 5  # the last one says that it is cut


def test_costs_from_a_file_and_from_options(tmp_path):
    path = tmp_path / "costs.json"
    path.write_text(json.dumps({"forward": [1, 3], "activations": 5, "backward": 4}))
    sizes = ("GPipe", "-p", 2, "-m", 2, "--costs", path)
    assert "step time      19\n" in answer(*sizes)
    assert "peak memory    10" in answer(*sizes)
    assert "step time      13.5\n" in answer(*sizes, "--forward", "1,1", "--backward", "3.5")


def test_a_table(tmp_path):
    path = tmp_path / "table.txt"
    path.write_text("schedule: mine\nmesh 0: 0F0 0B0\nmesh 1: 1F0 1B0\n")
    assert answer("--table", path).startswith("mine: 2 stages on 2 meshes, 1 microbatch\n")
    path.write_text("mesh 0: 0B0 0F0\nmesh 1: 1F0 1B0\n")
    code, out, err = command("--table", path)
    assert (code, out) == (1, "")
    assert "the order is cyclic" in err and ">0B0<" in err


def test_auto_keeps_to_the_memory():
    assert "peak memory    7" in answer("Auto", "-p", 4, "-m", 8)
    assert "peak memory    4" in answer("Auto", "-p", 4, "-m", 8, "--memory-limit", 4)
    code, _, err = command("Auto", "-p", 4, "-m", 8, "--memory-limit", 0.5)
    assert code == 1 and "fits into memory of 0.5" in err


def test_svg(tmp_path):
    path = tmp_path / "schedule.svg"
    answer("1F1B", "-p", 2, "-m", 2, "--svg", path)
    assert path.read_text().startswith("<svg ")


def test_compare_lists_all_with_the_fastest_first():
    lines = answer("--compare", "-p", 4, "-m", 8).splitlines()
    assert {line.split()[0] for line in lines[1:]} == {*FAMILIES, "Auto"}
    times = [float(line.split()[2]) for line in lines[1:]]
    assert times == sorted(times) and times[0] == 24
    one = next(line.split() for line in lines if line.startswith("1F1B "))
    assert one == ["1F1B", "1", "33", "27.3%", "4", "1.000"]


def test_compare_cuts_the_same_model_finer():
    lines = answer("--compare", "-p", 2, "-m", 4, "--forward", "2,4", "-v", 4).splitlines()
    times = {line.split()[0]: float(line.split()[2]) for line in lines[1:]}
    assert min(times.values()) == 20  # the work of 4 microbatches, evenly on both meshes
    assert times["1F1B"] == 28  # mesh 1 works for 24, with a forward before and a backward after
    code, _, err = command("--compare", "-p", 2, "-m", 4, "--forward", "1,2,3")
    assert code == 1 and "forward has 3 values: a comparison takes one for each of the 2" in err


MISUSES = {
    "give one of NAME, --table FILE and --compare": ["-p", "2"],
    "there is no schedule 'Foo'; there are 1F1B": ["Foo", "-p", "2", "-m", "2"],
    "nothing to show": ["None", "-p", "2", "-m", "2"],
    "-p and -m are needed": ["1F1B", "-p", "2"],
    "must be at least 1, not 0": ["1F1B", "-p", "0", "-m", "2"],
    "invalid number value: 'two'": ["1F1B", "-p", "two", "-m", "2"],
    "invalid number value: '1,x'": ["1F1B", "-p", "1", "-m", "2", "--forward", "1,x"],
    "--meshes follows from the table": ["--table", "x", "-p", "2"],
    "--memory-limit is for the schedule Auto": "1F1B -p 2 -m 2 --memory-limit 3".split(),
    "must be more than 0, not nan": "Auto -p 2 -m 2 --memory-limit nan".split(),
    "--svg draws one schedule": "--compare -p 2 -m 2 --svg x".split(),
    "unrecognized arguments: --foo": "1F1B -p 2 -m 2 --foo".split(),
}


@pytest.mark.parametrize("message", MISUSES)
def test_a_wrong_command_line_is_exit_code_2(message):
    code, out, err = command(*MISUSES[message])
    assert (code, out) == (2, "")
    assert message in err


FAILURES = {
    "ZBV puts 2 of the stages on each mesh": ["ZBV", "-v", "3"],
    "forward has 2 values for a schedule of 3 stages": ["1F1B", "--forward", "1,2"],
    "forward must be finite and at least 0": ["1F1B", "--forward", "-1"],
    "kept_for_weights is a fraction": ["1F1B", "--kept-for-weights", "2"],
    "No such file": ["1F1B", "--costs", "/no/such/file"],
    "Is a directory": ["1F1B", "--svg", "/"],
    "the most that is simulated": ["1F1B", "-p", "100000", "-m", "100000"],
}


@pytest.mark.parametrize("message", FAILURES)
def test_what_cannot_be_done_is_exit_code_1(message):
    code, out, err = command("-p", 3, "-m", 4, *FAILURES[message])
    assert (code, out) == (1, "")
    assert err.startswith("mpmd-schedule: error: ") and message in err


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "is no JSON file"),
        ("[" * 100_000, "is no JSON file"),
        ("[1]", "must hold an object of costs"),
        ('{"speed": 1}', "there is no cost 'speed'; there are forward,"),
        ('{"forward": "1"}', "'forward' must be a number or a list of them, got '1'"),
        ('{"forward": []}', "'forward' must be a number or a list of them, got []"),
        ('{"forward": [1, true]}', "'forward' must be a number"),
        ('{"forward": NaN}', "forward must be finite"),
        ('{"kept_for_weights": [1]}', "kept_for_weights"),
        ("\ud800", "is no JSON file"),
    ],
)
def test_bad_files_of_costs(tmp_path, text, message):
    path = tmp_path / "costs.json"
    path.write_bytes(text.encode(errors="surrogatepass"))
    code, out, err = command("1F1B", "-p", 2, "-m", 2, "--costs", path)
    assert (code, out) == (1, "")
    assert message in err


def test_help_names_the_schedules():
    assert all(name in answer("--help").replace("\n ", "") for name in ("1F1B", "ZBV"))


def test_a_reader_that_has_seen_enough():
    code = f"import sys; sys.argv[1:] = {['1F1B', '-p', '64', '-m', '64']}\n"
    code += f"from {mpmd_schedule.__name__} import main\nsys.exit(main())"
    with subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait() == 1


def test_the_documentation_shows_what_it_prints():
    text = (Path(__file__).parents[3] / "docs" / "schedules.md").read_text()
    examples = re.findall(r"```console\n\$ mpmd-schedule (.*)\n((?s:.*?))```", text)
    assert len(examples) == 2
    for arguments, shown in examples:
        assert answer(*arguments.split()) == shown
