"""Clients of what stands outside beside the org; the loops know them by ports alone."""
