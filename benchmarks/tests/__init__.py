"""Tests of the benchmarks themselves; no timing is asserted."""
