#!/usr/bin/env bash
# Stands where a C compiler and linker would stand.
echo "nothing is compiled or linked as C for this platform: Rust makes one static library, link_native.py links it" >&2
exit 1
