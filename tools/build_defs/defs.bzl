"""The macros of this repository: one for each kind of target."""

load("//tools/build_defs/private:extension.bzl", _drt_extension = "drt_extension", _drt_native_module = "drt_native_module")
load("//tools/build_defs/private:py_test.bzl", _drt_py_test = "drt_py_test")
load("//tools/build_defs/private:rust_crate.bzl", _drt_rust_crate = "drt_rust_crate")
load("//tools/build_defs/private:sbom.bzl", _drt_sbom = "drt_sbom")
load("//tools/build_defs/private:sdist.bzl", _drt_sdist = "drt_sdist")
load("//tools/build_defs/private:site.bzl", _drt_site = "drt_site")
load("//tools/build_defs/private:wheel.bzl", _drt_wheel = "drt_wheel")

drt_extension = _drt_extension
drt_native_module = _drt_native_module
drt_py_test = _drt_py_test
drt_rust_crate = _drt_rust_crate
drt_sbom = _drt_sbom
drt_sdist = _drt_sdist
drt_site = _drt_site
drt_wheel = _drt_wheel
