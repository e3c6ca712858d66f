/**
 * What a terminal shows, as text: the escape sequences that shells and simple programs move and erase with. Colours and
 * titles are left out; programs that paint the whole screen are better served by a terminal emulator.
 */

const MOST_LINES = 2000;
/** A sequence that has not ended after so many characters is none. */
const MOST_PENDING = 4096;
const TOKEN =
  /\x1b\[([<-?]?)([\d;:]*)[ -/]*([@-~])|\x1b[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[ #%()*+-/][^]|\x1b[^\x5bPX^_\]]|[\x00-\x1a\x1c-\x1f\x7f]|[^\x00-\x1f\x7f]+/y;

export class Screen {
  constructor(cols, rows) {
    this.resize(cols, rows);
    this.clear();
  }

  clear() {
    /** Each a list of characters. */
    this.lines = [[]];
    this.row = 0;
    this.col = 0;
    this.pending = "";
  }

  resize(cols, rows) {
    this.cols = cols;
    this.rows = rows;
  }

  /** The line that is the uppermost of those a program can reach. */
  get top() {
    return Math.max(0, this.lines.length - this.rows);
  }

  get text() {
    return this.lines.map((line) => line.join("")).join("\n");
  }

  write(text) {
    const all = this.pending + text;
    let at = 0;
    while (at < all.length) {
      TOKEN.lastIndex = at;
      const token = TOKEN.exec(all);
      if (!token && all.length - at <= MOST_PENDING) break;
      if (token) this.#take(token);
      at += token ? token[0].length : 1;
    }
    this.pending = all.slice(at);
  }

  #take([whole, mark, numbers, final]) {
    if (final !== undefined) {
      if (mark === "") this.#control(final, numbers.split(";").map((each) => Number.parseInt(each, 10) || 0));
    } else if (whole.charCodeAt(0) < 32 || whole === "\x7f") this.#move(whole);
    else for (const character of whole) this.#put(character);
  }

  #put(character) {
    if (this.col >= this.cols) {
      this.col = 0;
      this.#down();
    }
    const line = this.lines[this.row];
    while (line.length < this.col) line.push(" ");
    line[this.col++] = character;
  }

  #down() {
    this.row += 1;
    if (this.row === this.lines.length) this.lines.push([]);
    if (this.lines.length <= MOST_LINES) return;
    this.lines.shift();
    this.row -= 1;
  }

  #move(character) {
    if (character === "\r") this.col = 0;
    else if (character === "\n") this.#down();
    else if (character === "\b") this.col = Math.max(0, this.col - 1);
    else if (character === "\t") this.col = Math.min(this.cols - 1, (Math.floor(this.col / 8) + 1) * 8);
  }

  #goTo(row, col) {
    const top = this.top;
    this.row = top + Math.min(Math.max(row, 0), this.rows - 1);
    this.col = Math.min(Math.max(col, 0), this.cols - 1);
    while (this.lines.length <= this.row) this.lines.push([]);
  }

  #control(final, [first, second = 0]) {
    // What a program can name is bounded by the line it is on.
    const count = Math.min(first || 1, 1000);
    const line = this.lines[this.row];
    const blanks = (length) => Array(Math.max(0, length)).fill(" ");
    switch (final) {
      case "A":
        return this.#goTo(this.row - this.top - count, this.col);
      case "B":
        return this.#goTo(this.row - this.top + count, this.col);
      case "C":
        return this.#goTo(this.row - this.top, this.col + count);
      case "D":
        return this.#goTo(this.row - this.top, this.col - count);
      case "G":
        return this.#goTo(this.row - this.top, first - 1);
      case "d":
        return this.#goTo(first - 1, this.col);
      case "H":
      case "f":
        return this.#goTo(first - 1, second - 1);
      case "J":
        if (first === 0) this.lines.splice(this.row + 1);
        if (first === 0) line.splice(this.col);
        else for (let each = this.top; each < this.lines.length; each += 1) this.lines[each] = [];
        return undefined;
      case "K":
        if (first === 0) line.splice(this.col);
        else line.splice(0, first === 1 ? this.col + 1 : line.length, ...(first === 1 ? blanks(this.col + 1) : []));
        return undefined;
      case "P":
        return line.splice(this.col, count);
      case "X":
        return line.splice(this.col, count, ...blanks(Math.min(count, line.length - this.col)));
      case "@":
        if (this.col < line.length) line.splice(this.col, 0, ...blanks(count));
        return line.splice(this.cols);
      default:
        return undefined;
    }
  }
}
