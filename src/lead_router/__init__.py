"""lead-router gives each new Salesforce lead to the right rep, once, in turn, within seconds."""

__version__ = "0.1.0"
