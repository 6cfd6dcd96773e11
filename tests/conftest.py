"""Fixtures that every folder of tests may ask for."""
