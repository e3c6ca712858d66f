// A list as a section with a table, changed in place: a row stays the element it was as long as its key is there.

import { count, element } from "./cells.js";

export class Table {
  #list;
  #rows = new Map();
  #number = element("span", { class: "number" });
  #more = element("span", { class: "more" });
  #body = element("tbody", { role: "rowgroup" });
  #none;
  #table;

  constructor(list) {
    this.#list = list;
    // Roles are spelled out because narrow screens show rows as blocks, which would cost them their meaning.
    const headings = list.columns.map(([label]) => element("th", { scope: "col", role: "columnheader" }, label));
    this.#table = element(
      "table",
      { role: "table" },
      element("caption", {}, list.about, this.#more),
      element("thead", { role: "rowgroup" }, element("tr", { role: "row" }, ...headings)),
      this.#body,
    );
    this.#none = element("p", { class: "none" }, list.none);
    const title = element("h2", { id: `${list.id}-title` }, list.title, " ", this.#number);
    this.section = element(
      "section",
      { id: list.id, "aria-labelledby": `${list.id}-title`, class: list.wide ? "wide" : "narrow", tabindex: "-1" },
      title,
      this.#none,
      element("div", { class: "frame" }, this.#table),
    );
    this.update({ total: 0, rows: [] });
  }

  update({ total, rows }) {
    setText(this.#number, count(total));
    setText(this.#more, total > rows.length && rows.length ? ` ${this.#shown(rows.length)} of ${count(total)} shown.` : "");
    this.#none.hidden = rows.length > 0;
    this.#table.hidden = rows.length === 0;
    const keys = new Set(rows.map((row) => row.key));
    for (const [key, shown] of this.#rows) {
      if (!keys.has(key)) {
        shown.line.remove();
        this.#rows.delete(key);
      }
    }
    rows.forEach((row, place) => this.#put(row, place));
  }

  #shown(number) {
    return this.#list.id === "journal" ? `The last ${count(number)}` : `The first ${count(number)}`;
  }

  #put(row, place) {
    let shown = this.#rows.get(row.key);
    if (!shown) {
      shown = { line: this.#line(), values: [] };
      this.#rows.set(row.key, shown);
    }
    const there = this.#body.children[place];
    if (there !== shown.line) this.#body.insertBefore(shown.line, there ?? null);
    this.#list.columns.forEach(([, value, show], column) => {
      const now = value(row);
      const signature = JSON.stringify(now);
      if (shown.values[column] === signature) return;
      shown.values[column] = signature;
      redraw(shown.line.children[column], show(now));
    });
  }

  #line() {
    const cells = this.#list.columns.map(([label], column) =>
      column === 0
        ? element("th", { scope: "row", role: "rowheader" })
        : element("td", { role: "cell", "data-label": label }),
    );
    return element("tr", { role: "row" }, ...cells);
  }
}

// What a reader has opened stays open, and the focus stays where it was.
function redraw(cell, content) {
  const open = cell.querySelector("details")?.open ?? false;
  const focused = cell.contains(document.activeElement);
  cell.replaceChildren(content);
  const again = cell.querySelector("details");
  if (again) again.open = open;
  if (focused) again?.querySelector("summary").focus();
}

export function setText(target, text) {
  if (target.textContent !== text) target.textContent = text;
}
