"""`python -m lead_router` is `lead-router`."""

import sys

from lead_router.cli import main

sys.exit(main())
