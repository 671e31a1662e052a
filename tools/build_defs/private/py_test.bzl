"""A pytest file as a test, against the source tree or against the installed wheel."""

load("@rules_python//python:defs.bzl", "py_test")

_RUNNER = Label("//tools/build_defs/private:pytest_main.py")

def drt_py_test(name, src = None, deps = [], data = [], package = "source", imports = [], size = "medium", tags = [], env = {}):
    """Runs one pytest file. The other Python files of its package come with it, but for tests.

    Args:
      name: name of the target, the file's name without `.py` by habit.
      src: the file, `<name>.py` by default.
      deps: libraries the file imports; pytest is among them already.
      data: files the test reads, found under the path they have in the repository.
      package: what `import dataset_rt` finds: `source`, the package of this checkout; `wheel`, the built wheel,
        installed into a fresh virtual environment without network; `none`, nothing.
      imports: folders to put on the import path, relative to this package.
      size: Bazel's size class, which also sets the time limit.
      tags: Bazel's tags.
      env: environment variables of the test.
    """
    src = src or name + ".py"
    support = native.glob(["**/*.py"], allow_empty = True, exclude = ["**/test_*.py"])
    args = ["$(rootpath {})".format(src)]
    if package == "source":
        deps = deps + ["//python:dataset_rt"]
    elif package == "wheel":
        args.append("--wheel=$(rootpath //python:wheel)")
        data = data + ["//python:wheel"]
        deps = deps + ["//python:dependencies", "@pypi//pip"]
    elif package != "none":
        fail("package is '{}'; it may be source, wheel or none".format(package))
    py_test(
        name = name,
        size = size,
        srcs = [src, _RUNNER] + support,
        args = args,
        data = data + ["//:pyproject.toml"],
        env = env,
        imports = imports,
        main = _RUNNER,
        tags = tags,
        deps = deps + ["@pypi//pytest"],
    )
