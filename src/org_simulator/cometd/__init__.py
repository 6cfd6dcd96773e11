from org_simulator.cometd.routes import SERVER, add_routes, build_app
from org_simulator.cometd.sessions import Terms

__all__ = ["SERVER", "Terms", "add_routes", "build_app"]
