"""Fixtures that every folder of tests may ask for."""

pytest_plugins = ["support.postgres", "support.databases"]
