// Asks for the snapshot every second, while the page can be seen and nobody has paused it, and shows what changed.

import { count, element, refreshTimes, setClock } from "./cells.js";
import { JOURNAL, LISTS } from "./lists.js";
import { setText, Table } from "./table.js";

const SECOND = 1000;
const QUIET_SECONDS = 5; // between two announcements, so that a screen reader is not talked over
const byId = (id) => document.getElementById(id);

const tables = new Map();
const links = new Map();
let tag = null;
let paused = false;
let trouble = "";
let lists = null;
let announced = null;

for (const list of [...LISTS, JOURNAL]) {
  const table = new Table(list);
  tables.set(list.id, table);
  byId(list === JOURNAL ? "requests" : "lists").append(table.section);
  const number = element("span", { class: "number" }, "0");
  links.set(list.id, number);
  byId("contents").firstElementChild.append(element("li", {}, element("a", { href: `#${list.id}` }, list.title, " ", number)));
}
byId("pause").addEventListener("click", () => {
  paused = !paused;
  byId("pause").setAttribute("aria-pressed", String(paused));
  setState();
});
setInterval(refreshTimes, 5 * SECOND);
setInterval(announce, QUIET_SECONDS * SECOND);
keepAsking();

async function keepAsking() {
  for (;;) {
    if (!paused && !document.hidden) await ask();
    await new Promise((done) => setTimeout(done, trouble ? 3 * SECOND : SECOND));
  }
}

async function ask() {
  const account = new URLSearchParams(location.search).get("account") ?? "";
  try {
    const answer = await fetch(`/dashboard/snapshot?account=${encodeURIComponent(account)}`, {
      cache: "no-store",
      headers: tag ? { "if-none-match": tag } : {},
      signal: AbortSignal.timeout(5 * SECOND),
    });
    if (answer.status === 200) {
      show(await answer.json());
      tag = answer.headers.get("etag");
    }
    trouble = answer.ok || answer.status === 304 ? "" : (await answer.text()).trim();
  } catch {
    trouble = "The emulator does not answer";
  }
  setState();
}

function setState() {
  const state = byId("state");
  state.dataset.tone = trouble ? "bad" : paused ? "warn" : "good";
  setText(state, trouble || (paused ? "Paused" : "Live"));
}

function show(snapshot) {
  setClock(snapshot.clock_ahead);
  setText(byId("account"), snapshot.account.name);
  setText(byId("account-id"), snapshot.account.id);
  setText(byId("address"), snapshot.address);
  const ahead = Math.round(snapshot.clock_ahead);
  setText(byId("clock"), ahead ? `Its clock is ${count(ahead)} s ahead.` : "");
  setText(byId("no-sandboxes"), snapshot.no_sandboxes);
  byId("no-sandboxes").hidden = !snapshot.no_sandboxes;
  showAccounts(snapshot);
  for (const [id, list] of [...Object.entries(snapshot.lists), ["journal", snapshot.journal]]) {
    tables.get(id).update(list);
    setText(links.get(id), count(list.total));
  }
  byId("nothing").hidden = Object.values(snapshot.lists).some((list) => list.total > 0);
  lists = snapshot.lists;
  announced ??= worthTelling(); // what is there at first is no news
}

function showAccounts({ account, accounts }) {
  const nav = byId("accounts");
  const signature = JSON.stringify([account.id, accounts]);
  if (accounts.length < 2 || nav.dataset.signature === signature) return;
  nav.dataset.signature = signature;
  nav.hidden = false;
  nav.replaceChildren(
    ...accounts.map((each) =>
      element("a", { href: `?account=${each.id}`, ...(each.id === account.id ? { "aria-current": "page" } : {}) }, each.name),
    ),
  );
}

// What a change is worth telling about: how many there are of each, how rollouts go, whether there is an answer.
function worthTelling() {
  const words = new Map(LISTS.map(({ id, title }) => [id, `${title}: ${count(lists[id].total)}`]));
  for (const { key, name, rollout } of lists.applications.rows) {
    if (rollout) words.set(key, `Rollout of ${name} ${rollout.status}, ${rollout.percentage} %`);
  }
  return words.set("connection", trouble || "The emulator answers");
}

function announce() {
  if (!lists) return;
  const now = worthTelling();
  const news = [...now].filter(([key, words]) => announced.get(key) !== words).map(([, words]) => words);
  if (news.length) setText(byId("news"), `${news.join(". ")}.`);
  announced = now;
}
