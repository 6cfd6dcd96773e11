"""The one entry for every request, whether it came through a socket or the transport adapter."""

from __future__ import annotations

from org_simulator.wire import control, faults, oauth, rest
from org_simulator.wire.exchange import Answer, Cut, Request, Response, answer
from org_simulator.wire.world import World

CONTROL = "simulator"


def respond(world: World, request: Request) -> Answer:
    """Carry out a request; faults strike on its way, control calls excepted. Safe to call from many threads."""
    if request.segments[0] == CONTROL:
        return control.serve(world, request)
    with world.lock:
        world.requests += 1
    for witness in world.before:
        witness(request)
    struck = world.faults.draw(request)
    for fault in struck:
        if fault.name == faults.LATENCY:
            world.sleep(float(fault.value) / 1000)
        if fault.name == faults.EXPIRE_SESSION:
            world.org.sessions.revoke(oauth.bearer(request))
    for fault in struck:
        spoiled = faults.instead(fault, request)
        if spoiled is not None:
            return spoiled
    done = _route(world, request)
    for witness in world.after:
        witness(request)
    names = {fault.name for fault in struck}
    if faults.DROP_AFTER in names:
        return Cut()
    return Cut(hangs=True) if faults.HANG in names else done


def _route(world: World, request: Request) -> Response:
    match request.segments[:2]:
        case ("services", "oauth2"):
            return oauth.serve(world, request)
        case ("services", "data"):
            return rest.serve(world, request)
        case _:
            return answer(404, [{"message": "The requested resource does not exist", "errorCode": "NOT_FOUND"}])
