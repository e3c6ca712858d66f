// What a cell of a table shows. Every value becomes a text node or an attribute, never markup: names come from clients.

export function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

// The emulator's clock can be ahead of this machine's.
let ahead = 0;
export function setClock(seconds) {
  ahead = seconds;
}

const isNothing = (value) => value === null || value === undefined || value === "" || value.length === 0;
const nothing = () => element("span", { class: "quiet" }, element("span", { "aria-hidden": "true" }, "–"), unseen("none"));
const unseen = (text) => element("span", { class: "unseen" }, text);

// Wraps what shows a value into what also shows that there is none.
const optional = (show) => (value) => (isNothing(value) ? nothing() : show(value));

export const text = optional((value) => String(value));
// Lines may break after a slash, rather than anywhere.
export const breakable = optional((value) =>
  element("span", {}, ...value.split(/(?<=\/)/).flatMap((part) => [part, element("wbr")])),
);
export const code = optional((value) => element("code", {}, String(value)));
export const count = (value) => value.toLocaleString("en");
export const yes = (value) => (value ? "yes" : nothing());
export const several = optional((values) => values.join(", "));
export const codes = optional((values) =>
  element("span", { class: "pieces" }, ...values.map((value) => element("code", {}, value))),
);
export const badge = (tone) => (value) => element("span", { class: "badge", "data-tone": tone(value) }, String(value));

export const bytes = (value) => {
  const units = ["B", "kB", "MB", "GB"];
  const power = Math.min(Math.floor(Math.log10(Math.max(value, 1)) / 3), units.length - 1);
  return `${(value / 1000 ** power).toFixed(power ? 1 : 0)} ${units[power]}`;
};

// The start of what is too long to be read, and all of it on demand.
export const shortened = (length) =>
  optional((value) => {
    if (value.length <= length + 4) return element("code", {}, value);
    return element(
      "details",
      {},
      element("summary", {}, element("code", {}, `${value.slice(0, length)}…`)),
      element("code", { class: "whole" }, value),
    );
  });

export function details(summary, ...content) {
  return element("details", {}, element("summary", {}, ...summary), ...content);
}

export const time = optional((value) => {
  const moment = typeof value === "number" ? new Date(value * 1000) : new Date(value);
  const absolute = moment.toISOString().replace("T", " ").replace(/\.\d+Z$/, " UTC");
  const made = element("time", { datetime: moment.toISOString(), title: absolute });
  made.textContent = age(moment);
  return made;
});

function age(moment) {
  const seconds = Math.max(0, Math.round(Date.now() / 1000 + ahead - moment / 1000));
  if (seconds < 10) return "just now";
  if (seconds < 60) return `${Math.floor(seconds / 10) * 10} s ago`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ago`;
  if (seconds < 86400) return `${Math.floor(seconds / 3600)} h ago`;
  return `${Math.floor(seconds / 86400)} d ago`;
}

export function refreshTimes() {
  for (const each of document.querySelectorAll("time")) {
    const now = age(new Date(each.dateTime));
    if (each.textContent !== now) each.textContent = now;
  }
}
