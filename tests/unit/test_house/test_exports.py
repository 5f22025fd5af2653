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


def test_exported_names_are_sorted():
    exports = {source.name: _exported(source) for source in EXPORTING}
    offenders = [name for name, names in exports.items() if names != sorted(names, key=_rank)]
    assert not offenders, listed(offenders)


def test_exported_names_can_be_imported():
    offenders = [
        f"{source.name}: {name}"
        for source in EXPORTING
        for name in _exported(source)
        if not hasattr(importlib.import_module(source.module), name)
    ]
    assert not offenders, listed(offenders)


def test_a_package_lists_all_that_it_offers():
    offenders = [
        f"{source.name}: {name}"
        for source in FACADES
        for name in sorted(_offered(source) - set(_exported(source)))
    ]
    assert not offenders, "not in __all__:" + listed(offenders)


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


def _offered(source: Source) -> set[str]:
    """The public names a package takes from this tree at its top."""
    names = {
        alias.asname or alias.name
        for node in source.syntax.body
        if isinstance(node, ast.ImportFrom) and node.module.split(".")[0] in PACKAGES
        for alias in node.names
    }
    return {name for name in names if not name.startswith("_")}


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
