// Shows the page's live parts anew every few seconds. Scroll and focus stay; without this the page reloads itself.
(() => {
  const every = Number(document.body.dataset.every) * 1000;
  const stale = document.getElementById("stale");
  const anew = async () => {
    const answer = await fetch(location.href, { signal: AbortSignal.timeout(20000) });
    if (answer.redirected) location.reload();
    const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
    const parts = [...document.querySelectorAll("[data-live]")].map((old) => [old, fresh.getElementById(old.id)]);
    if (!parts.some(([, next]) => next)) throw new Error("no such page");
    for (const [old, next] of parts) {
      if (!next || old.isEqualNode(next)) continue;
      if (!getSelection().isCollapsed && getSelection().containsNode(old, true)) continue;
      for (const open of old.querySelectorAll("details[open]")) {
        next.querySelectorAll("details")[[...old.querySelectorAll("details")].indexOf(open)]?.setAttribute("open", "");
      }
      const focused = old.contains(document.activeElement) ? document.activeElement.id : "";
      old.replaceWith(document.adoptNode(next));
      if (focused) document.getElementById(focused)?.focus({ preventScroll: true });
    }
    document.title = fresh.title;
  };
  const turn = async () => {
    try {
      if (!document.hidden) await anew();
      stale.hidden = true;
    } catch {
      stale.hidden = false;
    }
    setTimeout(turn, every);
  };
  if (every) setTimeout(turn, every);
})();
