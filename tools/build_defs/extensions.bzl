"""Repositories that are made from this checkout and this machine, without any download."""

load("//tools/build_defs/private:cargo_facts.bzl", "cargo_facts")
load("//tools/build_defs/private:host_rust.bzl", "host_rust")
load("//tools/build_defs/private:source_tree.bzl", "source_tree")

def _checkout_impl(_mctx):
    cargo_facts(name = "cargo_facts", manifest = "//:Cargo.toml")
    host_rust(name = "host_rust")
    source_tree(name = "source_tree")

checkout = module_extension(implementation = _checkout_impl)
