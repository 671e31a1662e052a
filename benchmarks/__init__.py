"""Benchmarks of ``dataset_rt``, its floor and its peers. Start with README.md.

``definitions`` and ``contenders.toml`` are data. ``harness`` runs in the repository's own
environment: it plans rounds, starts contenders, keeps their result lines and writes the
report. ``trial`` and ``engines`` run inside a contender's environment and import nothing
but the standard library and the contender itself.
"""
