"""Repositories that are made from this checkout and this machine, without any download."""

load("//tools/build_defs/private:cargo_facts.bzl", "cargo_facts")
load("//tools/build_defs/private:host_rust.bzl", "CROSS", "host_rust")
load("//tools/build_defs/private:host_rust_std.bzl", "host_rust_std")
load("//tools/build_defs/private:source_tree.bzl", "source_tree")

def _checkout_impl(_mctx):
    cargo_facts(name = "cargo_facts", manifest = "//:Cargo.toml")
    host_rust(name = "host_rust")
    for processor, (triple, architecture) in CROSS.items():
        host_rust_std(name = "host_rust_std_" + processor, debian_architecture = architecture, triple = triple)
    source_tree(name = "source_tree")

checkout = module_extension(implementation = _checkout_impl)
