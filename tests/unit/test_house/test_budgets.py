"""The budgets of the house: short modules, short functions, few branches, docs that are there."""

import ast
import re
import statistics

import pytest

from tests.unit.test_house.tree import (
    MUTE,
    PACKAGES,
    Function,
    Source,
    body_lines,
    dotted,
    every_test,
    listed,
    sources,
)

CODE = sources(*PACKAGES)
CODE_LINES = sum(source.lines for source in CODE)
EVERYTHING = CODE + sources("tests", "examples", "benchmarks")
BODIES = sorted(
    (length, source.at(function))
    for source in CODE
    for function in source.functions()
    if (length := body_lines(function))
)
MOCKS = re.compile(
    r"^(mock\.|mocker\.)?(Mock|MagicMock|AsyncMock|create_autospec|patch(\.\w+)?)$|^monkeypatch\.setattr$"
)


def test_no_module_is_longer_than_400_lines():
    offenders = [f"{source.name}: {source.lines}" for source in EVERYTHING if source.lines > 400]
    assert not offenders, listed(offenders)


def test_the_median_module_stays_under_150_lines():
    sizes = sorted((source.lines, source.name) for source in CODE if not source.is_init)
    assert statistics.median(size for size, _ in sizes) <= 150, listed(_longest(sizes))


def test_no_function_is_longer_than_60_lines():
    offenders = [
        f"{source.at(function)}: {length}"
        for source in EVERYTHING
        for function in source.functions()
        if (length := body_lines(function)) > 60
    ]
    assert not offenders, listed(offenders)


def test_the_median_function_does_one_step_in_six_lines():
    assert statistics.median(length for length, _ in BODIES) <= 6, listed(_longest(BODIES))


def test_nine_functions_of_ten_stay_under_25_lines():
    ninth = BODIES[int(len(BODIES) * 0.9)][0]
    assert ninth <= 25, listed(_longest(BODIES))


def test_nobody_takes_more_than_six_parameters():
    offenders = [
        f"{source.at(function)}: {count}, make a value object of them"
        for source in CODE
        for function in source.functions()
        if (count := _parameters(function)) > 6
    ]
    assert not offenders, listed(offenders)


def test_broad_excepts_are_rare_and_say_why():
    broad = [(source, node) for source in CODE for node in _broad_excepts(source)]
    unexplained = [source.at(node) for source, node in broad if not _has_reason(source, node)]
    assert not unexplained, "no comment beside it says why:" + listed(unexplained)
    places = [source.at(node) for source, node in broad]
    assert len(places) <= max(1, CODE_LINES / 1000), f"over {CODE_LINES} lines:" + listed(places)


def test_muted_warnings_are_rare():
    places = [f"{name}: {comment}" for name, comment in _mutes(CODE)]
    assert len(places) <= max(1, 2 * CODE_LINES / 1000), f"over {CODE_LINES} lines:" + listed(
        places
    )


def test_a_muted_warning_names_its_code_and_its_reason():
    offenders = [
        f"{place}: {comment}" for place, comment in _mutes(EVERYTHING) if not _is_explained(comment)
    ]
    assert not offenders, listed(offenders)


def test_comments_are_few_and_there():
    comments = [
        comment
        for source in CODE
        for comment in source.comments.values()
        if not MUTE.match(comment)
    ]
    share = 100 * len(comments) / CODE_LINES
    fewest = sorted(CODE, key=lambda source: len(source.comments) / max(1, source.lines))
    assert 2 <= share <= 5, f"{share:.1f} % of {CODE_LINES} lines:" + listed(
        [f"{source.name}: {len(source.comments)}" for source in fewest if source.lines > 60]
    )


def test_docstrings_are_an_eighth_to_a_quarter_of_the_code():
    written = {source.name: _docstring_lines(source) for source in CODE}
    share = 100 * sum(written.values()) / CODE_LINES
    shares = sorted(
        (100 * written[source.name] / max(1, source.lines), source.name) for source in CODE
    )
    ends = [f"{name}: {part:.0f} %" for part, name in shares[:10] + shares[-10:]]
    assert 12 <= share <= 25, f"{share:.1f} % of {CODE_LINES} lines:" + listed(ends)


def test_tests_are_as_long_as_the_code_and_not_much_longer():
    ratio = sum(source.lines for source in sources("tests")) / CODE_LINES
    assert 1.0 <= ratio <= 1.6, f"{ratio:.2f} lines of test per line of code"


def test_the_median_test_is_read_at_a_glance():
    sizes = sorted((body_lines(function), source.at(function)) for source, function in every_test())
    assert statistics.median(size for size, _ in sizes) <= 12, listed(_longest(sizes))


def test_there_is_at_most_one_mock_in_ten_tests():
    places = [
        source.at(node)
        for source in sources("tests")
        for node in source.nodes(ast.Call)
        if MOCKS.match(dotted(node.func))
    ]
    assert len(places) <= len(every_test()) / 10, f"over {len(every_test())} tests:" + listed(
        places
    )


def test_a_test_is_named_by_a_sentence():
    offenders = [
        source.at(function)
        for source, function in every_test()
        if len(function.name.split("_")) < 4
    ]
    assert not offenders, "say what a person does or gets:" + listed(offenders)


def test_no_test_is_skipped():
    given_up = re.compile(r"^pytest\.(skip|xfail|importorskip|mark\.(skip|skipif|xfail))$")
    offenders = [
        source.at(node)
        for source in sources("tests")
        for node in source.nodes(ast.Attribute)
        if given_up.match(dotted(node))
    ]
    assert not offenders, listed(offenders)


@pytest.mark.parametrize(
    ("comment", "explained"),
    [
        ("# noqa", False),
        ("# noqa: BLE001", False),
        ("# noqa: BLE001, S110", False),
        ("# noqa: BLE001 the supervisor goes on", True),
        ("# noqa: BLE001, S110 - the supervisor goes on", True),
        ("# type: ignore", False),
        ("# type: ignore[arg-type]", False),
        ("# type: ignore[arg-type]  # bolt takes any callable", True),
    ],
)
def test_a_mute_counts_as_explained_only_with_code_and_words(comment, explained):
    assert _is_explained(comment) is explained


def _longest(sizes: list[tuple[int, str]]) -> list[str]:
    return [f"{name}: {size}" for size, name in reversed(sizes[-30:])]


def _parameters(function: Function) -> int:
    arguments = function.args
    named = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    return len([argument for argument in named if argument.arg not in {"self", "cls"}])


def _broad_excepts(source: Source) -> list[ast.ExceptHandler]:
    handlers = source.nodes(ast.ExceptHandler)
    return [handler for handler in handlers if _is_broad(handler.type)]


def _is_broad(caught: ast.expr | None) -> bool:
    if isinstance(caught, ast.Tuple):
        return any(_is_broad(one) for one in caught.elts)
    return caught is None or dotted(caught) in {"Exception", "BaseException"}


def _has_reason(source: Source, handler: ast.ExceptHandler) -> bool:
    near = range(handler.lineno - 1, handler.body[0].lineno + 1)
    comments = [source.comments[line] for line in near if line in source.comments]
    return any(_is_explained(comment) or not MUTE.match(comment) for comment in comments)


def _mutes(files: tuple[Source, ...]) -> list[tuple[str, str]]:
    return [
        (f"{source.name}:{line}", comment)
        for source in files
        for line, comment in source.comments.items()
        if MUTE.match(comment)
    ]


def _is_explained(comment: str) -> bool:
    code = r"#\s*(noqa:\s*[A-Z]+\d+(,\s*[A-Z]+\d+)*|type:\s*ignore\[[a-z, -]+\])"
    reason = re.sub(code, "", comment, count=1)
    return reason != comment and len(re.findall(r"[A-Za-z]{2,}", reason)) >= 2


def _docstring_lines(source: Source) -> int:
    """Docstrings and the strings under fields: every statement that is a text alone."""
    texts = (node for node in source.nodes(ast.Expr) if isinstance(node.value, ast.Constant))
    return sum(
        node.end_lineno - node.lineno + 1 for node in texts if isinstance(node.value.value, str)
    )
