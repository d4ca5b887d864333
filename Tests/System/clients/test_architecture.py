"""The table in ARCHITECTURE.md agrees with Package.swift on the modules and their imports."""

import re

from harness.service import REPOSITORY as ROOT


def manifest():
    """The modules in `Sources`, each with the modules and packages that it depends on."""
    text = (ROOT / "Package.swift").read_text()
    text = re.sub(r"\]\s*\+ nio", ', .product(name: "NIOCore", package: "swift-nio")]', text)
    text = text.replace("dependencies: nio", 'dependencies: [.product(name: "NIOCore", package: "swift-nio")]')
    modules = {}
    # A declaration ends where the next one begins.
    declarations = re.split(r"\n        \.(?=systemLibrary|target|executableTarget|testTarget)", text)[1:]
    for declaration in declarations:
        name = re.search(r'name: "(\w[\w-]*)"', declaration)[1]
        path = re.search(r'path: "([^"]*)"', declaration)
        if declaration.startswith("testTarget") or (path and not path[1].startswith("Sources/")):
            continue
        listed = re.search(r"dependencies: \[(.*?)\]", declaration, re.DOTALL)
        listed = listed[1] if listed else ""
        packages = set(re.findall(r'package: "([\w-]+)"', listed))
        modules[name] = set(re.findall(r'(?<!: )"(\w+)"', listed)) | packages
    return modules


def table():
    rows = re.findall(r"^\| (`.*?`) \| .* \| (.*?) ?\|$", (ROOT / "ARCHITECTURE.md").read_text(), re.MULTILINE)
    rows = [(re.findall(r"`([\w-]+)`", names), re.findall(r"`([\w-]+)`", imports)) for names, imports in rows]
    return {name: set(imports) for names, imports in rows for name in names}


def test_the_table_has_every_module_with_its_imports():
    assert table() == manifest()


def test_every_module_has_a_folder():
    in_c = ROOT / "Sources/C"
    folders = {folder.name for folder in [*in_c.parent.iterdir(), *in_c.iterdir()] if folder.is_dir() and folder != in_c}
    assert folders == set(manifest())


def test_imports_run_one_way():
    modules = manifest()

    def reached(module, path):
        assert module not in path, f"{' imports '.join([*path, module])}"
        for other in modules.get(module, ()):
            reached(other, [*path, module])

    for module in modules:
        reached(module, [])
