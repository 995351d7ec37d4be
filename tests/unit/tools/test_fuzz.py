"""Mutated inputs through the passes: the tool always answers with 0, or with 1 and a message.

Seeded, and small enough to run every time. Calls of functions that are not there are left out: on
them MLIR's own verifier crashes, which `test_guard.py` is about.
"""

import io
import random
import re

import pytest

from mpmd.passes import registry
from mpmd.tools.opt.driver import Driver

TYPES = """!t = tensor<4xf32>
!m0 = !mpmd.mesh_tensor<"m0", tensor<4xf32>>
!m1 = !mpmd.mesh_tensor<"m1", tensor<4xf32>>
#topology = #mpmd.topology<<"m0": <["x"=2]>>, <"m1": <["x"=2]>>>
"""
LABELLED = (
    TYPES
    + """func.func public @main(%a: !t, %b: !t) -> (!t, !t) attributes {topology = #topology} {
  %0 = mpmd.call @step(%a, %b) {call_counter = 0 : ui32} : (!t, !t) -> !t
  %1 = mpmd.call @step(%0, %b) {call_counter = 1 : ui32} : (!t, !t) -> !t
  %2 = mpmd.for (%1) {iterations = 2 : ui32} (%x: !t, %i: tensor<ui32>) {
    %3 = stablehlo.multiply %x, %x : !t
    mpmd.return %3 : !t
  } : !t
  return %0, %2 : !t, !t
}
func.func private @step(%a: !t, %b: !t) -> !t {
  %0 = mpmd.named_computation<"f"> (%a) (%x: !t) {
    %1 = stablehlo.sine %x : !t
    mpmd.return %1 : !t
  } : (!t) -> !t
  %1 = stablehlo.add %0, %b : !t
  %2 = mpmd.named_computation<"g"(1)> (%1, %b) (%x: !t, %y: !t) {
    %3 = stablehlo.add %x, %y : !t
    mpmd.return %3 : !t
  } : (!t, !t) -> !t
  return %2 : !t
}
"""
)
FRAGMENTS = (
    TYPES
    + """sdy.mesh @mesh = <["x"=2]>
func.func public @main(%a: !m0 {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, %b: !m1)
    -> (!m0, !m1 {mhlo.layout_mode = "auto"}) attributes {topology = #topology} {
  %0:2 = mpmd.fragment<mesh="m0", origin=["f"], stage=0> (%a) {call_counter = 0 : ui32}
      (%x: !t) {
    %9 = stablehlo.sine %x : !t
    mpmd.return %9, %x : !t, !t
  } : (!m0) -> (!m0, !m0)
  %1 = mpmd.transfer %0#0 : (!m0) -> !m1
  %2 = mpmd.fragment<mesh="m1", origin=[]> (%1) {mpmd.inferred_by = ["a"]} (%x: !t) {
    mpmd.return %x : !t
  } : (!m1) -> !m1
  %3 = mpmd.fragment<mesh="m1", origin=["g"(1)], stage=1> (%2, %b)
      {arg_attrs = [{}, {tf.aliasing_output = 0 : i32}], call_counter = 0 : ui32}
      (%x: !t, %y: !t) {
    %9 = stablehlo.add %x, %y : !t
    mpmd.return %9 : !t
  } : (!m1, !m1) -> !m1
  return %0#1, %3 : !m0, !m1
}
"""
)
CALLS = (
    TYPES
    + """func.func public @main(%a: !m0) -> !m1 attributes {topology = #topology} {
  %0 = mpmd.fragment_call<mesh="m0", origin=["f"]> @f(%a) : (!m0) -> !m0
  %1 = mpmd.transfer %0 : (!m0) -> !m1
  %2 = mpmd.fragment_call<mesh="m1", origin=["f"]> @f(%1) : (!m1) -> !m1
  return %2 : !m1
}
func.func private @f(%a: !t) -> !t attributes {mesh_shape = #sdy.mesh<["x"=2]>} {
  %0 = stablehlo.add %a, %a : !t
  return %0 : !t
}
"""
)
SOURCES = {"labelled": LABELLED, "fragments": FRAGMENTS, "calls": CALLS}
OPTIONS = {
    "mpmd-map-named-ops-to-mpmd-ops": "=assignment=f@m0/0,g@m1",
    "mpmd-map-input-output-to-mesh": "=input-assignment=0@m0 output-assignment=1@m1",
    "mpmd-infer-mesh-pipeline": "=infer-transfers constraints=0:1",
    "mpmd-import-pipeline": "=name-to-mesh-assignment=f@m0,g@m1 infer-transfers",
    "mpmd-export-pipeline": "=fail-on-inferred-fragments=false",
}

TOKEN = re.compile(r'"(?:[^"\\\n]|\\.)*"|[%@!#]?[\w.]+(?:#\d+)?|->|\s+|.')
ATTRIBUTES = (
    *("call_counter", "unroll_counter", "mpmd.use_set", "mpmd.src_set", "mpmd.inferred_by"),
    *("mpmd.reduce", "arg_attrs", "res_attrs", "reserved_hbm_bytes", "mesh_shape", "stage_id"),
)
VALUES = (
    *('"x"', "-1 : i32", "7 : ui32", "99999999999 : i64", "unit", "true", "[]", '["a", 3]', "@f"),
    *("0.5 : f32", "#mpmd.reduction<add>", '#mpmd.meshes_with_origins<"m1"["a"]>', "[{}, {}, {}]"),
)
OTHERS = {
    "%": ("%a", "%0", "%x"),
    '"': ('"m1"', '"m9"', '""', r'"a\22b"', '"a>b"', '"f"'),
    "9": ("0", "1", "4294967295", "99999999999999999999"),
}


def kind_of(token):
    return "9" if token.isdigit() else token[:1]


def mutated(text, rng):
    """Returns `text` with one change, mostly of a kind that still parses."""
    tokens = TOKEN.findall(text)
    places = [i for i, token in enumerate(tokens) if not token.isspace()]
    here, there = rng.choice(places), rng.choice(places)
    change = rng.random()
    if change < 0.1:
        tokens[here] = ""
    elif change < 0.2:
        tokens[here] += " " + tokens[here]
    elif change < 0.3:
        tokens[here], tokens[there] = tokens[there], tokens[here]
    elif change < 0.6:
        kind = rng.choice(list(OTHERS))
        here = rng.choice([i for i in places if kind_of(tokens[i]) == kind])
        tokens[here] = rng.choice(OTHERS[kind])
    elif change < 0.85:
        here = rng.choice([i for i in places if tokens[i] == "{"])
        tokens[here] = f"{{{rng.choice(ATTRIBUTES)} = {rng.choice(VALUES)}"
        tokens[here] += rng.choice((", ", "} {"))
    elif change < 0.9:
        return text[: rng.randrange(len(text))]
    elif change < 0.95:
        lines = text.split("\n")
        lines.insert(rng.randrange(len(lines)), rng.choice(lines))
        return "\n".join(lines)
    else:
        return re.sub(r"func\.func \w*", "func.func " + rng.choice(("", "private", "public")), text)
    return "".join(tokens)


def crashes_the_verifier(text):
    called = re.findall(r"mpmd\.call @(\w+)", text)
    return not all(re.search(rf"func\.func[ \w]*@{name}\(", text) for name in called)


def run(arguments, text):
    out, err = io.BytesIO(), io.StringIO()
    code = Driver(io.BytesIO(text.encode()), out, err).run(arguments)
    story = f"{arguments} on\n{text}\nsaid\n{err.getvalue()}"
    assert code in (0, 1), story
    assert (code == 0) == bool(out.getvalue()), story
    assert code == 0 or "error: " in err.getvalue(), story
    return code


@pytest.mark.parametrize("source", SOURCES)
def test_mutations(source, monkeypatch):
    monkeypatch.setenv("MPMD_TRACEBACK", "1")  # so that what nobody foresaw is raised
    rng = random.Random(source)
    passes = [f"-{name}{OPTIONS.get(name, '')}" for name in registry.names()]
    accepted = 0
    for _ in range(50):
        text = mutated(SOURCES[source], rng)
        if crashes_the_verifier(text) or run([], text):
            continue
        accepted += 1
        for _ in range(4):
            run([rng.choice(passes)], text)
    assert accepted > 5


@pytest.mark.parametrize("name", registry.names())
def test_every_pass_takes_every_form(name, monkeypatch):
    monkeypatch.setenv("MPMD_TRACEBACK", "1")
    for text in (*SOURCES.values(), TYPES, "", "func.func @f() { return }"):
        run([f"-{name}{OPTIONS.get(name, '')}"], text)
