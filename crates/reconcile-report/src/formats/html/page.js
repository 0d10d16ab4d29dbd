"use strict";
(() => {
  const root = document.documentElement;
  const find = (selector, within = document) => [...within.querySelectorAll(selector)];
  const byId = (id) => document.getElementById(id);
  const items = find("[data-state][id]");
  const groups = find("li.group");
  const rests = find("details.rest");
  const search = byId("search");
  const states = find("button[data-state]");
  const lists = find("select[data-filter]");
  const texts = new Map();
  const number = new Intl.NumberFormat("en-US");

  // The storage of a page that was opened as a file may be refused.
  const stored = (name) => { try { return localStorage.getItem("kubectl-reconcile." + name); } catch { return null; } };
  const store = (name, value) => { try { localStorage.setItem("kubectl-reconcile." + name, value); } catch { /* not kept */ } };

  // What several objects have in common belongs to each of them.
  const groupsOf = (item) => (item.dataset.groups ?? "").split(" ").filter(Boolean)
    .map((number) => byId("g" + item.id.slice(1).split("-")[0] + "-" + number)).filter(Boolean);
  const textOf = (item) => {
    if (!texts.has(item)) {
      const common = groupsOf(item).map((group) => group.querySelector(".common")?.textContent ?? "");
      texts.set(item, [item.textContent, ...common].join(" ").toLowerCase());
    }
    return texts.get(item);
  };
  const has = (item, name, value) => (" " + (item.dataset[name] ?? "") + " ").includes(" " + value + " ");
  const setHidden = (element, hidden) => { if (element.hidden !== hidden) element.hidden = hidden; };
  const setText = (element, text) => { if (element.textContent !== text) element.textContent = text; };

  function filter() {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const wanted = states.filter((state) => state.getAttribute("aria-pressed") === "true").map((state) => state.dataset.state);
    const chosen = lists.filter((list) => list.value !== "").map((list) => [list.dataset.filter, list.value]);
    const matches = (item) =>
      (wanted.length === 0 || wanted.includes(item.dataset.state))
      && chosen.every(([name, value]) => has(item, name, value))
      && words.every((word) => textOf(item).includes(word));
    let count = 0, foremost = 0;
    const found = new Set();
    for (const item of items) {
      const shown = matches(item);
      setHidden(item, !shown);
      if (shown) { count += 1; if (!item.classList.contains("quiet")) foremost += 1; groupsOf(item).forEach((group) => found.add(group)); }
    }
    for (const group of groups) setHidden(group, !found.has(group));
    const active = words.length > 0 || wanted.length > 0 || chosen.length > 0;
    for (const rest of rests) {
      const quiet = find("li.quiet", rest).filter((item) => !item.hidden).length;
      setText(rest.querySelector(".quiet-count"), number.format(quiet));
      setHidden(rest, quiet === 0);
      // What is in sync is opened where it is all that was found.
      const open = active && foremost === 0;
      if (rest.dataset.open !== String(open)) { rest.dataset.open = open; rest.open = open; }
    }
    const noun = items.length === 1 ? " object" : " objects";
    setText(byId("count"), active ? number.format(count) + " of " + number.format(items.length) + noun : number.format(items.length) + noun);
    setHidden(byId("none"), count > 0 || items.length === 0);
    setHidden(byId("reset"), !active);
  }

  let pending = 0;
  const soon = () => { cancelAnimationFrame(pending); pending = requestAnimationFrame(filter); };

  const shownDetails = () => find("li.o").filter((item) => !item.hidden).map((item) => item.querySelector("details")).filter(Boolean);
  const openAll = (open) => shownDetails().forEach((details) => { details.open = open; });

  const pressed = (name, on) => find(`[data-do=${name}]`).forEach((button) => button.setAttribute("aria-pressed", on));
  function side(on) { root.classList.toggle("side", on); pressed("side", on); }
  function dark(on) { root.dataset.theme = on ? "dark" : "light"; pressed("dark", on); }
  const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches);

  function step(by) {
    const lines = shownDetails().map((details) => details.firstElementChild);
    const here = lines.indexOf(document.activeElement?.closest?.("details")?.firstElementChild);
    const next = here < 0 ? (by > 0 ? 0 : lines.length - 1) : here + by;
    lines[next]?.focus();
  }

  const actions = {
    expand: () => openAll(true),
    collapse: () => openAll(false),
    more: () => { const on = byId("controls").classList.toggle("all"); pressed("more", on); },
    side: () => { const on = !root.classList.contains("side"); side(on); store("side", on); },
    dark: () => { const on = !isDark(); dark(on); store("dark", on); },
    help: () => { if (!byId("help").open) byId("help").showModal(); },
    close: () => byId("help").close(),
    reset: () => {
      search.value = "";
      lists.forEach((list) => { list.value = ""; });
      states.forEach((state) => state.setAttribute("aria-pressed", "false"));
      filter();
      search.focus();
    },
    search: () => { search.focus(); search.select(); },
    next: () => step(1),
    previous: () => step(-1),
  };
  const keys = { "/": "search", j: "next", k: "previous", e: "expand", c: "collapse", s: "side", d: "dark", r: "reset", "?": "help" };

  document.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (button?.dataset.do) actions[button.dataset.do]();
    if (button?.dataset.state) {
      button.setAttribute("aria-pressed", button.getAttribute("aria-pressed") !== "true");
      filter();
    }
    const link = event.target.closest("a[href^='#o']");
    if (link) reveal(link.hash);
  });
  document.addEventListener("keydown", (event) => {
    const typing = event.target.closest?.("input[type=search], select, dialog");
    if (event.key === "Escape" && event.target === search && search.value) { search.value = ""; filter(); event.preventDefault(); }
    if (typing || event.ctrlKey || event.metaKey || event.altKey || !byId("keys").checked || !keys[event.key]) return;
    event.preventDefault();
    actions[keys[event.key]]();
  });
  search.addEventListener("input", soon);
  lists.forEach((list) => list.addEventListener("change", filter));
  byId("keys").addEventListener("change", (event) => store("keys", event.target.checked));

  // A link to an object opens it, also where a filter hides it.
  function reveal(hash) {
    const item = items.find((one) => "#" + one.id === hash);
    if (!item) return;
    if (item.hidden) actions.reset();
    const rest = item.closest("details.rest");
    if (rest) rest.open = true;
    const details = item.querySelector("details");
    if (details) { details.open = true; details.firstElementChild.focus(); }
    item.scrollIntoView();
  }

  let opened = [];
  addEventListener("beforeprint", () => { opened = find("details:not([open])"); opened.forEach((one) => { one.open = true; }); });
  addEventListener("afterprint", () => { opened.forEach((one) => { one.open = false; }); opened = []; });

  byId("keys").checked = stored("keys") !== "false";
  side(stored("side") === "true");
  const kept = stored("dark");
  if (kept === null) pressed("dark", isDark()); else dark(kept === "true");
  byId("controls").hidden = false;
  filter();
  if (location.hash) reveal(location.hash);
})();
