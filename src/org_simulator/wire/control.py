"""`/simulator/…`: what a test or a demo does to the org from outside. No Salesforce org has these."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any, TypeAlias

from org_simulator.clock import ManualClock
from org_simulator.failures import Failure
from org_simulator.wire import faults, scenario
from org_simulator.wire.errors import refusal
from org_simulator.wire.exchange import Request, Response, answer
from org_simulator.wire.world import World

Act: TypeAlias = Callable[[World, Any], Any]


def serve(world: World, request: Request) -> Response:
    """Answer a control call: 200 with JSON; 400 naming what is wrong; 404 for an unknown one."""
    name = "/".join(request.segments[1:])
    act = ACTS.get((request.method, name))
    if act is None:
        return answer(404, {"error": f"no control call {request.method} {name}", "known": sorted(map(" ".join, ACTS))})
    try:
        given = json.loads(request.body) if request.body else dict(request.query)
        return answer(200, act(world, given))
    except Failure as failure:
        return answer(400, {"error": str(failure), "errors": refusal(failure).content})
    except (ValueError, TypeError, KeyError, AttributeError) as fault:
        return answer(400, {"error": f"{type(fault).__name__}: {fault}"})


def _put_faults(world: World, given: Any) -> Any:
    for each in given if isinstance(given, list) else [given]:
        world.faults.put(faults.from_json(each))
    return _faults(world, None)


def _clear_faults(world: World, _given: Any) -> Any:
    world.faults.clear()
    return []


def _faults(world: World, _given: Any) -> Any:
    return [asdict(each) for each in world.faults.waiting()]


def _notifications(world: World, _given: Any) -> Any:
    with world.lock:
        return [{**asdict(each), "at": each.at.isoformat()} for each in world.notifications]


def _scenario(world: World, given: Any) -> Any:
    return {"ids": scenario.load(world.org, given)}


def _state(world: World, _given: Any) -> Any:
    org = world.org
    with org.transaction(org.admin_user_id) as opened:
        counts = {each.name: sum(1 for _ in opened.rows(each.name)) for each in org.schema.objects.values()}
    return {
        "org_id": org.org_id,
        "now": org.clock.now().isoformat(),
        "api_calls": org.calls_used,
        "api_calls_allowed": org.calls_allowed,
        "requests": world.requests,
        "integration_user_id": org.integration_user_id,
        "admin_user_id": org.admin_user_id,
        "counts": {name: count for name, count in counts.items() if count},
        "faults": _faults(world, None),
        "stream": org.events.state() if org.events is not None else None,
    }


def _rows(world: World, given: Mapping[str, str]) -> Any:
    sobject = world.org.schema.objects[given["sobject"].lower()]
    with world.org.transaction(world.org.admin_user_id) as opened:
        return [dict(row) for row in opened.rows(sobject.name, deleted=given.get("deleted") == "true")]


def _clock(world: World, given: Mapping[str, Any]) -> Any:
    clock = world.org.clock
    if not isinstance(clock, ManualClock):
        raise TypeError("the clock is the computer's own; start with --manual-clock to drive it")
    clock.advance(float(given["advance_s"]))
    return {"now": clock.now().isoformat()}


def _user(world: World, given: Mapping[str, Any]) -> Any:
    org = world.org
    with org.transaction(org.admin_user_id) as opened:
        user_id = given.get("id") or opened.find("User", "Username", given["username"])
        if user_id is None:
            raise KeyError(given.get("username"))
        if "active" in given:
            opened.update("User", user_id, {"IsActive": given["active"]})
        if "frozen" in given:
            login = next((row["Id"] for row in opened.rows("UserLogin") if row["UserId"] == user_id), None)
            if login is None:
                opened.insert("UserLogin", {"UserId": user_id, "IsFrozen": given["frozen"]})
            else:
                opened.update("UserLogin", login, {"IsFrozen": given["frozen"]})
    return {"id": user_id}


def _setting(world: World, given: Mapping[str, Any]) -> Any:
    """Change a record of custom metadata, as a deployment would."""
    org = world.org
    with org.system_transaction(org.admin_user_id) as opened:
        sobject = org.schema.objects[given["sobject"].lower()].name
        rows = (row for row in opened.rows(sobject) if row["DeveloperName"] == given.get("name", "Default"))
        found = next(rows, None)
        if found is None or not sobject.endswith("__mdt"):
            raise KeyError(given.get("name", "Default"))
        opened.update(sobject, found["Id"], given["fields"])
    return {"id": found["Id"]}


def _jobs(world: World, _given: Any) -> Any:
    """Run what Apex left for after its commits."""
    automation = world.org.automation
    ran = 0 if automation is None else automation.work()
    return {"ran": ran, "failures": [] if automation is None else list(automation.failures)}


def _login(world: World, given: Mapping[str, Any]) -> Any:
    """A session without credentials: for the programs around the router (a form, a person, a test)."""
    org = world.org
    user_id = given.get("id") or org.admin_user_id
    if "username" in given:
        with org.transaction(org.admin_user_id) as opened:
            user_id = opened.find("User", "Username", given["username"])
    if user_id is None:
        raise KeyError(given["username"])
    return {"access_token": org.sessions.issue(user_id), "instance_url": world.base_url, "user_id": user_id}


def _revoke(world: World, given: Mapping[str, Any]) -> Any:
    if given.get("token"):
        world.org.sessions.revoke(given["token"])
    else:
        world.org.sessions.revoke_all()
    return {}


def _limits(world: World, given: Mapping[str, Any]) -> Any:
    world.org.calls_allowed = int(given.get("api_calls_allowed", world.org.calls_allowed))
    return {"api_calls": world.org.calls_used, "api_calls_allowed": world.org.calls_allowed}


def _convert(world: World, given: Mapping[str, Any]) -> Any:
    account, contact, opportunity = world.org.convert_lead(given["lead_id"])
    return {"account_id": account, "contact_id": contact, "opportunity_id": opportunity}


def _merge(world: World, given: Mapping[str, Any]) -> Any:
    world.org.merge_leads(given["winner"], given["loser"])
    return {}


def _mass_transfer(world: World, given: Mapping[str, Any]) -> Any:
    world.org.mass_transfer(given["ids"], given["owner_id"])
    return {}


def _undelete(world: World, given: Mapping[str, Any]) -> Any:
    with world.org.transaction(world.org.admin_user_id) as opened:
        opened.undelete(world.org.schema.objects[given["sobject"].lower()].name, given["id"])
    return {}


def _stream(world: World, given: Mapping[str, Any]) -> Any:
    """`do` names what happens at once; `arm` a stream fault for later, with count, probability and text."""
    log = world.org.events
    if "arm" in given:
        log.faults.arm(
            given["arm"],
            count=int(given.get("count", 1)),
            probability=float(given.get("probability", 1)),
            text=str(given.get("text", "")),
        )
    match given.get("do"):
        case None:
            pass
        case "gap":
            log.gap(given["sobject"], given["ids"], given.get("change_type", "UPDATE"))
        case "overflow":
            log.overflow(given["sobject"])
        case "drop_sessions" | "expire" | "renumber" | "hold" | "release" as verb:
            getattr(log, verb)()
        case "clear":
            log.faults.clear()
        case other:
            raise ValueError(f"nothing called {other!r} can be done to the stream")
    return log.state()


ACTS: dict[tuple[str, str], Act] = {
    ("GET", "faults"): _faults,
    ("POST", "faults"): _put_faults,
    ("DELETE", "faults"): _clear_faults,
    ("POST", "scenario"): _scenario,
    ("GET", "state"): _state,
    ("GET", "rows"): _rows,
    ("GET", "notifications"): _notifications,
    ("POST", "clock"): _clock,
    ("POST", "user"): _user,
    ("POST", "setting"): _setting,
    ("POST", "jobs"): _jobs,
    ("POST", "login"): _login,
    ("POST", "revoke"): _revoke,
    ("POST", "limits"): _limits,
    ("POST", "convert"): _convert,
    ("POST", "merge"): _merge,
    ("POST", "mass_transfer"): _mass_transfer,
    ("POST", "undelete"): _undelete,
    ("POST", "stream"): _stream,
}
