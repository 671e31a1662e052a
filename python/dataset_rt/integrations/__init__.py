"""Adapters to training frameworks; each loads its framework when it is imported."""
