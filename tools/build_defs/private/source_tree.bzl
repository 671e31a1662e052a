"""`@source_tree//:files`: every file of this checkout, as data for the lints.

A package can glob only its own files; lints look at all of them. The repository holds links to the files, so a changed
file runs the lints again, and a listing of each folder, so a new one does too. BUILD files carry the suffix `.txt` here:
under their own name they would make packages.
"""

# Neither sources nor tracked: what tools leave behind.
_LEFT_OUT = [".git", ".hypothesis", ".mypy_cache", ".pytest_cache", ".ruff_cache", ".venv", "__pycache__", "node_modules", "target"]
_LEFT_OUT_SUFFIXES = (".pyc", ".so", "user.bazelrc")

# A bound for the walk, which Starlark wants: far above the number of folders.
_MOST_FOLDERS = 100000

def _is_source(path, is_root):
    name = path.basename
    return not (name in _LEFT_OUT or name.endswith(_LEFT_OUT_SUFFIXES) or (is_root and name.startswith("bazel-")))

def _source_tree_impl(rctx):
    root = rctx.workspace_root
    folders, files = [root], []
    for _ in range(_MOST_FOLDERS):
        if not folders:
            break
        folder = folders.pop()
        for entry in sorted(folder.readdir(), key = str):
            if not _is_source(entry, folder == root):
                continue
            if entry.is_dir:
                folders.append(entry)
            else:
                files.append(str(entry)[len(str(root)) + 1:])
    for file in files:
        build = file.rpartition("/")[2] in ["BUILD", "BUILD.bazel"]
        rctx.symlink(root.get_child(file), "tree/" + file + (".txt" if build else ""))
    rctx.file("BUILD.bazel", 'filegroup(name = "files", srcs = glob(["tree/**"]), visibility = ["//visibility:public"])\n')

source_tree = repository_rule(
    implementation = _source_tree_impl,
    local = True,
)
