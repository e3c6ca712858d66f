/** One line of JSON per event. Values are identifiers, numbers and codes: never bodies, commands, output or secrets. */

export type Fields = Record<string, string | number | boolean | undefined>;

export function log(level: "info" | "warn" | "error", message: string, fields: Fields = {}): void {
  const line = JSON.stringify({ level, message, ...fields });
  if (level === "error") console.error(line);
  else if (level === "warn") console.warn(line);
  else console.log(line);
}
