"""Every LEAD_ROUTER_ variable, checked once."""

from lead_router.settings.fields import PREFIX, Settings, host_and_port
from lead_router.settings.reading import example, exposed, load, readable_by_others, secret_text

__all__ = ["PREFIX", "Settings", "example", "exposed", "host_and_port", "load", "readable_by_others", "secret_text"]
