/**
 * Arguments for a POSIX shell. All text that reaches a shell string passes through `quote`; nothing else in this Worker
 * builds commands.
 */
import { Problem } from "./errors.ts";

const PLAIN = /^[A-Za-z0-9_@%+=:,./-]+$/;

/** One argument, such that every POSIX shell reads back exactly this text. */
export function quote(argument: string): string {
  if (argument.includes("\0")) throw new Problem("invalid_request", "An argument must not contain a NUL character.");
  if (PLAIN.test(argument)) return argument;
  return `'${argument.replaceAll("'", `'\\''`)}'`;
}

/** A program and its arguments as one command. */
export function command(...argv: string[]): string {
  return argv.map(quote).join(" ");
}
