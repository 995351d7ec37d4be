"""Lowering whole programs: what reads back, what stays, what is shared."""

import pytest

from mpmd.dialect._jaxlib import ir, make_context
from mpmd.dialect.ifrt import Call, Transfer, fragment_module, read_program
from mpmd.lowering import LoweringError, lower_to_ifrt, lowered_to_ifrt


def tensor(stage):
    return f'!mpmd.mesh_tensor<"m{stage}", tensor<4x4xf32>, sharding=<@mesh, [{{"x"}}, {{}}]>>'


def pipeline(stages, microbatches):
    """Returns a module that sends each microbatch through all stages."""
    lines = []
    for batch in range(microbatches):
        value = f"%x{batch}"
        for stage in range(stages):
            if stage:
                source, target = tensor(stage - 1), tensor(stage)
                lines.append(f"%t{batch}_{stage} = mpmd.transfer {value} : ({source}) -> {target}")
                value = f"%t{batch}_{stage}"
            lines.append(
                f'%f{batch}_{stage} = mpmd.fragment_call<mesh="m{stage}", origin=["s{stage}"]>'
                f" @p{stage}_s{stage}.main({value}) : ({tensor(stage)}) -> {tensor(stage)}"
            )
            value = f"%f{batch}_{stage}"
    results = ", ".join(f"%f{batch}_{stages - 1}" for batch in range(microbatches))
    types = ", ".join([tensor(stages - 1)] * microbatches)
    arguments = ", ".join(f"%x{batch}: {tensor(0)}" for batch in range(microbatches))
    topology = ", ".join(f'<"m{stage}": <["x"=2]>>' for stage in range(stages))
    sharding = '{sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}'
    functions = [
        f"func.func @p{stage}_s{stage}.main(%a: tensor<4x4xf32> {sharding})"
        f' -> (tensor<4x4xf32> {sharding}) attributes {{mesh_shape = #sdy.mesh<["x"=2]>,'
        f" reserved_hbm_bytes = {stage} : i64}} {{\n"
        "%0 = stablehlo.negate %a : tensor<4x4xf32>\nreturn %0 : tensor<4x4xf32>\n}"
        for stage in range(stages)
    ]
    return "\n".join(
        [
            'sdy.mesh @mesh = <["x"=2]>',
            f"func.func public @main({arguments}) -> ({types})"
            f" attributes {{topology = #mpmd.topology<{topology}>}} {{",
            *lines,
            f"return {results} : {types}",
            "}",
            *functions,
        ]
    )


def parse(text):
    return ir.Module.parse(text, make_context())


def test_input_is_kept_and_the_result_reads_back():
    module = parse(pipeline(stages=3, microbatches=2))
    before = str(module)
    lowered = lowered_to_ifrt(module)
    assert str(module) == before
    assert lowered.operation.verify()
    for generic in (False, True):
        text = lowered.operation.get_asm(print_generic_op_form=generic)
        assert str(ir.Module.parse(text, lowered.context)) == str(lowered)


def test_in_place():
    module = parse(pipeline(stages=2, microbatches=1))
    expected = str(lowered_to_ifrt(module))
    lower_to_ifrt(module.operation)
    assert str(module) == expected


def test_one_step_for_each_call_and_transfer():
    stages, microbatches = 4, 6
    program = read_program(lowered_to_ifrt(parse(pipeline(stages, microbatches))))
    calls = [step for step in program.steps if isinstance(step, Call)]
    transfers = [step for step in program.steps if isinstance(step, Transfer)]
    assert len(calls) == stages * microbatches
    assert len(transfers) == (stages - 1) * microbatches
    assert len(program.fragments) == stages
    assert program.num_devices == 2 * stages
    assert [call.devices for call in calls[:stages]] == [(0, 1), (2, 3), (4, 5), (6, 7)]


def test_equal_stages_have_equal_modules():
    program = read_program(lowered_to_ifrt(parse(pipeline(stages=3, microbatches=1))))
    texts = {
        fragment_module(
            program.fragments[step.fragment],
            step,
            [program.types[value] for value in step.inputs],
            [program.types[value] for value in step.outputs],
        ).text
        for step in program.steps
        if isinstance(step, Call)
    }
    assert len(texts) == 1


def test_unlowered_operation_is_named():
    text = pipeline(stages=1, microbatches=1).replace(
        "return %f0_0", "%u = stablehlo.constant dense<1.0> : tensor<f32>\nreturn %f0_0"
    )
    with pytest.raises(LoweringError, match=r"found stablehlo\.constant") as error:
        lowered_to_ifrt(parse(text))
    assert error.value.where.name == "stablehlo.constant"


def test_two_entry_points_are_refused():
    text = pipeline(stages=1, microbatches=1)
    main = text[text.index("func.func public") : text.index("func.func @p0")]
    with pytest.raises(LoweringError, match="one public function with a topology, found 2"):
        lowered_to_ifrt(parse(text + "\n" + main.replace("@main", "@other")))
