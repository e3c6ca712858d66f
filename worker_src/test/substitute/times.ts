/** How many times as fast time passes in a bundle that begins with quick.ts. */
export const TIMES = 60;
