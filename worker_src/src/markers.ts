/**
 * How a file watch ends whose reader has left. The runtime lets go of a connection to the container only when something
 * comes from it, and a folder in which nothing changes is silent; with the connection open, the sandbox would go on
 * watching and never sleep. So a file is made there and deleted again, which nobody is told of.
 */

const PREFIX = "sandbox-watch-end-";

export const newMarker = (): string => `${PREFIX}${crypto.randomUUID()}`;

export const isMarker = (path: string): boolean => path.slice(path.lastIndexOf("/") + 1).startsWith(PREFIX);
