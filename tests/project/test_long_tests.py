"""A long test names its parts, and no file of tests is too long to find one in."""

import ast
from pathlib import Path

TESTS = Path(__file__).parents[1]
MAX_CHECKS = 15
MAX_LINES = 500

Test = ast.FunctionDef | ast.AsyncFunctionDef


def is_check(node: ast.AST) -> bool:
    """An assertion, an expectation of what the page shows, or an error that has to come."""
    if not isinstance(node, ast.Call):
        return isinstance(node, ast.Assert)
    called = node.func
    return (isinstance(called, ast.Name) and called.id == "expect") or (
        isinstance(called, ast.Attribute) and ast.unparse(called) == "pytest.raises"
    )


def is_part(node: ast.AST) -> bool:
    return isinstance(node, ast.With) and any(
        isinstance(item.context_expr, ast.Call) and ast.unparse(item.context_expr.func) == "part"
        for item in node.items
    )


def long_tests(source: str) -> list[str]:
    """The tests with more checks than one failure should hide, and no part that goes on after it."""
    tests = [node for node in ast.walk(ast.parse(source)) if isinstance(node, Test)]
    return [
        f"{test.name}: {checks} checks"
        for test in tests
        if test.name.startswith("test_")
        and (checks := sum(is_check(node) for node in ast.walk(test))) > MAX_CHECKS
        and not any(is_part(node) for node in ast.walk(test))
    ]


def test_a_test_of_many_checks_names_its_parts() -> None:
    files = sorted(TESTS.rglob("test_*.py"))
    assert len(files) > 100, "the tests are elsewhere"
    found = [f"{file.relative_to(TESTS)}: {one}" for file in files for one in long_tests(file.read_text())]
    assert found == []


def test_no_file_of_tests_is_over_500_lines() -> None:
    lengths = {file.relative_to(TESTS): len(file.read_text().splitlines()) for file in TESTS.rglob("*.py")}
    assert {file: lines for file, lines in lengths.items() if lines > MAX_LINES} == {}


def test_what_counts_as_a_check_and_as_a_part_is_recognised() -> None:
    heads = ("async def test_it(part):", "def test_it(part):", "class TestIt:\n  def test_it(self):")
    checks = (
        "assert one",
        "expect(one).to_be_visible()",
        "with pytest.raises(KeyError): one()",
    )
    for head in heads:
        for check in checks:
            enough = head + f"\n    {check}" * MAX_CHECKS
            assert long_tests(enough) == []
            assert long_tests(f"{enough}\n    assert two") == ["test_it: 16 checks"]
            assert long_tests(f"{enough}\n    with part('two'):\n        assert two") == []
            assert long_tests(f"{enough}\n    with one('two'):\n        assert two") == ["test_it: 16 checks"]
