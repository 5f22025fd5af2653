"""The tree as the house tests read it: files, their syntax, their functions and comments."""

import ast
import io
import re
import subprocess
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

ROOT = Path(__file__).parents[3]
PACKAGES = ("core", "adapters", "gateway")
MUTE = re.compile(r"#\s*(noqa|type:\s*ignore)")

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Source:
    path: Path
    text: str

    @property
    def name(self) -> str:
        return self.path.relative_to(ROOT).as_posix()

    @property
    def module(self) -> str:
        return self.name.removesuffix(".py").removesuffix("/__init__").replace("/", ".")

    @property
    def is_init(self) -> bool:
        return self.path.name == "__init__.py"

    @cached_property
    def lines(self) -> int:
        return len(self.text.splitlines())

    @cached_property
    def syntax(self) -> ast.Module:
        return ast.parse(self.text, filename=self.name)

    @cached_property
    def comments(self) -> dict[int, str]:
        """Each comment by its line."""
        tokens = tokenize.generate_tokens(io.StringIO(self.text).readline)
        return {token.start[0]: token.string for token in tokens if token.type == tokenize.COMMENT}

    def nodes(self, *kinds: type[ast.AST]) -> Iterator[ast.AST]:
        return (node for node in ast.walk(self.syntax) if isinstance(node, kinds))

    def functions(self) -> Iterator[Function]:
        yield from self.nodes(ast.FunctionDef, ast.AsyncFunctionDef)

    def at(self, node: ast.AST) -> str:
        return f"{self.name}:{node.lineno} {getattr(node, 'name', '')}".rstrip()


@cache
def sources(*folders: str) -> tuple[Source, ...]:
    """Every Python file of these top folders, as it stands on disk."""
    paths = sorted(path for folder in folders for path in (ROOT / folder).rglob("*.py"))
    return tuple(Source(path, path.read_text(encoding="utf-8")) for path in paths)


@cache
def tracked_files() -> tuple[Path, ...]:
    """The files of the repository, those about to be committed included."""
    listing = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    )
    paths = (ROOT / name for name in listing.stdout.split("\0") if name)
    return tuple(path for path in paths if path.is_file())


def body_lines(function: Function) -> int:
    """The length of a function without its signature and docstring; 0 for a stub."""
    body = function.body[1:] if ast.get_docstring(function) is not None else function.body
    if not body or is_ellipsis(body[0]):
        return 0
    return body[-1].end_lineno - body[0].lineno + 1


def is_ellipsis(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and getattr(statement.value, "value", None) is ...


def dotted(node: ast.AST) -> str:
    """`a.b.c` of an attribute or name, else an empty text."""
    if isinstance(node, ast.Attribute):
        return f"{dotted(node.value)}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else ""


def imported(source: Source) -> set[str]:
    """The full names a module imports, anywhere in it: `from a.b import c` is `a.b.c`."""
    names = set()
    for node in source.nodes(ast.Import, ast.ImportFrom):
        prefix = f"{node.module}." if isinstance(node, ast.ImportFrom) else ""
        names.update(prefix + alias.name for alias in node.names)
    return names


def is_test(source: Source, function: Function) -> bool:
    return source.path.name.startswith("test_") and function.name.startswith("test_")


def every_test() -> list[tuple[Source, Function]]:
    pairs = ((source, function) for source in sources("tests") for function in source.functions())
    return [(source, function) for source, function in pairs if is_test(source, function)]


def listed(offenders: list[str]) -> str:
    """A failure's text: one offender a line, the first thirty."""
    return (
        "\n  "
        + "\n  ".join(offenders[:30])
        + (f"\n  and {len(offenders) - 30} more" * (len(offenders) > 30))
    )
