/** Choices that a seed repeats. */
export interface Chance {
  /** From 0 up to 1. */
  next(): number;
  below(limit: number): number;
  pick<T>(from: readonly T[]): T;
  /** Of pairs of a weight and a value. */
  weigh<T>(from: readonly (readonly [number, T])[]): T;
}

function hash(text: string): number {
  let value = 2166136261;
  for (const character of text) value = Math.imul(value ^ character.charCodeAt(0), 16777619);
  return value >>> 0;
}

export function chance(...seed: (string | number)[]): Chance {
  let state = hash(seed.join("/"));
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (limit: number): number => Math.floor(next() * limit);
  return {
    next,
    below,
    pick: (from) => from[below(from.length)]!,
    weigh(from) {
      let left = next() * from.reduce((sum, [weight]) => sum + weight, 0);
      return (from.find(([weight]) => (left -= weight) < 0) ?? from.at(-1)!)[1];
    },
  };
}
