"""What a package exports: sorted, complete, there; and every folder is a package of this tree."""

import ast
import importlib
import subprocess
import sys

import pytest

from tests.unit.test_house.tree import PACKAGES, ROOT, Source, listed, sources

CODE = sources(*PACKAGES)
EXPORTING = [source for source in CODE if "__all__" in source.text]
FACADES = [source for source in CODE if source.is_init and list(source.nodes(ast.ImportFrom))]


@pytest.mark.parametrize("source", EXPORTING, ids=lambda source: source.name)
def test_exported_names_are_sorted(source):
    names = _exported(source)
    assert names == sorted(names, key=_rank)


@pytest.mark.parametrize("source", EXPORTING, ids=lambda source: source.name)
def test_exported_names_can_be_imported(source):
    module = importlib.import_module(source.module)
    missing = [name for name in _exported(source) if not hasattr(module, name)]
    assert not missing


@pytest.mark.parametrize("source", FACADES, ids=lambda source: source.name)
def test_a_package_lists_all_that_it_offers(source):
    offered = {
        alias.asname or alias.name for node in source.nodes(ast.ImportFrom) for alias in node.names
    }
    public = {name for name in offered if not name.startswith("_")}
    assert set(_exported(source)) >= public


def test_every_folder_of_code_is_a_package():
    folders = {source.path.parent for source in CODE}
    missing = [
        folder.relative_to(ROOT).as_posix()
        for folder in sorted(folders)
        if not (folder / "__init__.py").is_file()
    ]
    assert not missing, "import-linter does not see into:" + listed(missing)


@pytest.mark.parametrize("package", PACKAGES)
def test_packages_come_from_this_tree(package):
    """A stranger's `core` on the path would win silently; asked without our own path."""
    asked = [sys.executable, "-c", f"import {package}; print({package}.__file__)"]
    answer = subprocess.run(asked, cwd="/", check=True, capture_output=True, text=True)
    assert answer.stdout.strip() == str(ROOT / package / "__init__.py")
    assert importlib.import_module(package).__file__ == answer.stdout.strip()


def _exported(source: Source) -> list[str]:
    for node in source.syntax.body:
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        if any(isinstance(target, ast.Name) and target.id == "__all__" for target in targets):
            return ast.literal_eval(node.value)
    return []


def _rank(name: str) -> tuple[int, str]:
    """As ruff sorts them: constants, classes, the rest."""
    if name.isupper() and len(name) > 1:
        return 0, name
    return (1 if name[0].isupper() else 2), name
