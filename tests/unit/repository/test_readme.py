"""The README's tour does what it says."""

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
README = (ROOT / "README.md").read_text()


def blocks(language):
    return re.findall(rf"```{language}\n(.*?)```", README.partition("## Two minutes")[2], re.DOTALL)


def run(command, folder):
    path = os.pathsep.join((os.path.dirname(sys.executable), os.environ["PATH"]))
    environment = {**os.environ, "PATH": path}
    environment.pop("XLA_FLAGS", None)
    done = subprocess.run(
        command, cwd=folder, env=environment, text=True, capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_first_snippet_is_the_example():
    example = (ROOT / "examples/hello_two_stages.py").read_text()
    assert example.endswith(f'"""\n\n{blocks("python")[0]}')


def test_the_snippets_run_and_print_what_is_shown(tmp_path):
    out = run([sys.executable, "-c", "\n".join(blocks("python"))], tmp_path)
    (console,), (report,), (commands,) = blocks("console"), blocks("text"), blocks("sh")
    assert out.startswith(console.partition("\n")[2])
    shown = [line.rstrip() for line in report.splitlines()]
    assert "\n".join(shown) in "\n".join(line.rstrip() for line in out.splitlines())
    lines = [line for line in out.splitlines() if re.fullmatch(r"\d+\.\d+", line)]
    assert len(lines) == 2 and lines[0] == lines[1]
    for command in commands.splitlines():
        assert run(["bash", "-c", command], tmp_path)
