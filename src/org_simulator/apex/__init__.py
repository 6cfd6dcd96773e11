"""Apex on the simulated org: shipped classes and triggers run inside its own transactions (SUBSET.md says how much)."""
