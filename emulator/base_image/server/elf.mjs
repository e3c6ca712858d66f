/** ELF executables without the symbols only debuggers read: a seventh of Node, and no program has to be installed for it. */

const SYMBOLS = 2;
const STRINGS = 3;
const HEADER = 64;

/** The file without `.symtab` and its strings; unchanged if they are not the last things in it, or it is no 64-bit ELF. */
export function withoutSymbols(file) {
  if (file.readUInt32BE(0) !== 0x7f454c46 || file[4] !== 2 || file[5] !== 1) return file;
  const table = Number(file.readBigUInt64LE(40));
  const count = file.readUInt16LE(60);
  const names = file.readUInt16LE(62);
  const sections = Array.from({ length: count }, (_, i) => {
    const header = file.subarray(table + i * HEADER, table + (i + 1) * HEADER);
    const [offset, size] = [Number(header.readBigUInt64LE(24)), Number(header.readBigUInt64LE(32))];
    return { i, header: Buffer.from(header), type: header.readUInt32LE(4), offset, size, link: header.readUInt32LE(40) };
  });
  const symbols = sections.find(({ type }) => type === SYMBOLS);
  const strings = symbols && sections[symbols.link];
  if (!symbols || strings.type !== STRINGS || strings.i === names) return file;
  const start = Math.min(symbols.offset, strings.offset);
  const kept = sections.filter((one) => one !== symbols && one !== strings);
  const moved = kept.filter(({ offset, i }) => offset >= start && i !== names && i !== 0);
  if (moved.length > 0) return file;
  return assemble(file, start, kept, sections[names]);
}

/** The file up to `start`, then the names of the sections, then their headers with indexes as they are now. */
function assemble(file, start, kept, names) {
  const index = new Map(kept.map(({ i }, now) => [i, now]));
  const text = file.subarray(names.offset, names.offset + names.size);
  const at = start + text.length;
  const table = at + ((8 - (at % 8)) % 8);
  const result = Buffer.alloc(table + kept.length * HEADER);
  file.copy(result, 0, 0, start);
  text.copy(result, start);
  kept.forEach(({ i, header, link }, now) => {
    if (i === names.i) header.writeBigUInt64LE(BigInt(start), 24);
    header.writeUInt32LE(index.get(link) ?? 0, 40);
    header.copy(result, table + now * HEADER);
  });
  result.writeBigUInt64LE(BigInt(table), 40);
  result.writeUInt16LE(kept.length, 60);
  result.writeUInt16LE(index.get(names.i), 62);
  return result;
}
