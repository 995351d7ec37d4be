"""The driver: exit codes and messages for good and bad command lines and inputs."""

import io

import pytest

from mpmd.tools.opt.driver import MAX_NESTING, Driver

GOOD = "func.func @f(%a: tensor<4xf32>) -> tensor<4xf32> { return %a : tensor<4xf32> }\n"
BAD = "func.func @f() -> tensor<4xf32> { return }\n"
DUPLICATE = """func.func @f(%a: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = stablehlo.add %a, %a : tensor<4xf32>
  %1 = stablehlo.add %a, %a : tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}
"""


def run(arguments, stdin=""):
    data = stdin if isinstance(stdin, bytes) else stdin.encode()
    out, err = io.BytesIO(), io.StringIO()
    code = Driver(io.BytesIO(data), out, err).run(arguments)
    return code, out.getvalue().decode(errors="replace"), err.getvalue()


def test_prints_the_module():
    code, out, err = run([], GOOD)
    assert (code, err) == (0, "")
    assert "func.func @f" in out


def test_file_and_output(tmp_path):
    source, target = tmp_path / "in.mlir", tmp_path / "out.mlir"
    source.write_text(DUPLICATE)
    assert run([str(source), "-cse", "-o", str(target)]) == (0, "", "")
    assert target.read_text().count("stablehlo.add") == 1
    assert run([str(source), f"-o={target}"]) == (0, "", "")
    assert target.read_text().count("stablehlo.add") == 2


def test_a_failing_run_leaves_the_output_file_alone(tmp_path):
    target = tmp_path / "out.mlir"
    target.write_text("precious")
    code, _, _ = run(["-o", str(target)], BAD)
    assert code == 1
    assert target.read_text() == "precious"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-no-such-thing"], "unknown option or pass '-no-such-thing'"),
        (["-verify-diagnostic"], "did you mean '-verify-diagnostics'?"),
        (["a.mlir", "b.mlir"], "more than one input file"),
        (["/no/such/file.mlir"], "No such file"),
        (["-o"], "needs a value"),
        (["-verify-each=maybe"], "neither true nor false"),
        (["-mlir-diagnostic-verbosity-level=loud"], "not one of errors, warnings, remarks"),
        (["-canonicalize=no-such-option=1"], "no-such-option"),
        (["-canonicalize=max-iterations=many"], "canonicalize"),
        (["-pass-pipeline=builtin.module(cse"], "missing ')'"),
        (["-pass-pipeline=builtin.module(cse))"], "unbalanced ')'"),
        (["-pass-pipeline=builtin.module(cse,,cse)"], "an empty element"),
        (["-pass-pipeline=foo.bar(cse)"], "cannot nest passes under 'foo.bar'"),
        (["-pass-pipeline=builtin.module(nonesuch)"], "nonesuch"),
        (["-help=nonesuch"], "no pass 'nonesuch'"),
        (["-mpmd-fragment-dce=a=1"], "has no option 'a'"),
        (["-mpmd-fragment-dce='unterminated"], "unterminated"),
    ],
)
def test_usage_errors(arguments, message):
    code, out, err = run(arguments, GOOD)
    assert (code, out) == (1, "")
    assert err.startswith("mpmd-opt: error: ")
    assert message in err


def test_parse_error_has_place_line_and_caret():
    code, out, err = run([], GOOD + "func.func @g() { foo.bar }\n")
    assert (code, out) == (1, "")
    assert err.startswith("<stdin>:2:18: error: Dialect `foo' not found")
    assert "\nfunc.func @g() { foo.bar }\n                 ^\n" in err


def test_verifier_error_in_a_part_does_not_stop_the_others():
    code, out, err = run(["-split-input-file"], GOOD + "// -----\n" + BAD + "// -----\n" + GOOD)
    assert code == 1
    assert out.count("func.func @f") == 2
    assert err.startswith("<stdin>:3:35: error: 'func.return' op has 0 operands")


def test_custom_split_marker():
    code, out, _ = run(["-split-input-file=// ====="], GOOD + "// =====\n" + GOOD)
    assert code == 0
    assert out.count("func.func @f") == 2


@pytest.mark.parametrize(
    ("comment", "code"),
    [
        ("// expected-error@+1 {{has 0 operands}}\n", 0),
        ("// expected-error@+1 {{another message}}\n", 1),
        ("// expected-error@+2 {{has 0 operands}}\n", 1),
        ("// expected-error@below {{has 0 operands}}\n", 0),
        ("// expected-error-re@+1 {{has {{[0-9]}} operands.*}}\n", 1),
        ("// expected-error-re@+1 {{has {{[0-9]}} operands}}\n", 0),
        ("// expected-warning@+1 {{has 0 operands}}\n", 1),
        ("// expected-error@+1 2 {{has 0 operands}}\n", 1),
        ("// expected-error@+1 1 {{has 0 operands}}\n", 0),
        ("// expected-error@unknown {{has 0 operands}}\n", 1),
        ("// expected-error-re@+1 {{({{(}} }}\n", 1),
        ("", 1),
    ],
)
def test_expectations(comment, code):
    assert run(["-verify-diagnostics"], comment + BAD)[0] == code


def test_expected_error_that_does_not_come():
    code, _, err = run(["-verify-diagnostics"], "// expected-error {{boo}}\n" + GOOD)
    assert code == 1
    assert '<stdin>:1: error: expected error "boo" was not produced' in err


def test_bytecode_round_trip():
    out, err = io.BytesIO(), io.StringIO()
    assert Driver(io.BytesIO(GOOD.encode()), out, err).run(["-emit-bytecode"]) == 0
    code, text, _ = run([], out.getvalue())
    assert code == 0
    assert "func.func @f" in text
    for end in (5, 40, len(out.getvalue()) - 3):
        code, _, err = run([], out.getvalue()[:end])
        assert code == 1
        assert "error" in err


@pytest.mark.parametrize(
    "data",
    [b"\x00\x01\x02", b"\xff" * 100, b"ML\xefR", b"func.func @", b'"', b"!", b"#x<", b"\x00" * 9],
)
def test_garbage(data):
    code, _, err = run([], data)
    if data.strip(b"\0"):
        assert code == 1
        assert "error" in err
    assert "Traceback" not in err


def test_deep_nesting_is_refused_before_the_parser_overflows():
    deep = "tuple<" * 100_000
    code, _, err = run([], f"func.func @f(%a: {deep}\n")
    assert code == 1
    assert f"<stdin>:1:1: error: brackets nested deeper than {MAX_NESTING}" in err


def test_many_brackets_side_by_side_are_fine():
    code, out, _ = run([], "".join(f"func.func @f{i}() {{ return }}\n" for i in range(2000)))
    assert code == 0
    assert out.count("func.func") == 2000


def test_list_passes_and_help_name_every_pass():
    from mpmd.passes import registry

    _, listed, _ = run(["--list-passes"])
    _, helped, _ = run(["--help"])
    assert registry.names()
    for name in registry.names():
        assert name in listed
        assert f"-{name}" in helped
    assert "canonicalize" in listed


def test_help_of_one_pass_and_version():
    code, out, _ = run(["--help=mpmd-fragment-dce"])
    assert code == 0
    assert out.startswith("-mpmd-fragment-dce\n")
    assert "jaxlib" in run(["--version"])[1]


def test_show_pipeline_reads_back():
    code, text, _ = run(["-cse", "-canonicalize=max-iterations=3", "--show-pipeline"])
    assert code == 0
    assert run([f"-pass-pipeline={text.strip()}", "--show-pipeline"])[1] == text


def test_timing_and_ir_printing_go_to_stderr():
    code, out, err = run(["-cse", "--mlir-timing", "--mlir-print-ir-before-all"], DUPLICATE)
    assert code == 0
    assert out.count("stablehlo.add") == 1
    assert "IR Dump Before cse" in err
    assert err.count("stablehlo.add") == 2
    assert "Pass execution timing" in err
