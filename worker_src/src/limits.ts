/** Every limit on sizes, in bytes. docs/worker/api.md tells them all, which a test sees to. */
const MIB = 1024 * 1024;

export const JSON_BODY_LIMIT = MIB;

/** A file and its JSON; base64 makes 4 bytes of 3. */
export const FILE_BODY_LIMIT = 24 * MIB;

/** As large as one that can be written: as base64, and with its JSON, it passes over every transport. */
export const FILE_ANSWER_LIMIT = (FILE_BODY_LIMIT * 3) / 4;

/** The platform's: what a Durable Object can hand over as one value. */
export const ANSWER_LIMIT = 32 * MIB;

/** One event of a stream; what sends it is not trusted to ever end it. */
export const EVENT_LIMIT = 16 * MIB;

/** What a terminal shows while its client says nothing. */
export const SHOWN_LIMIT = 32 * MIB;

/** What a file travels in. It is in memory several times on its way, so it stays small. */
export const SLICE = 2 * MIB;

/** R2's, for an object that is put in one piece. */
export const ARTIFACT_LIMIT = 5 * 1024 * MIB - 5 * MIB;

/** A limit as people read it. */
export const inMib = (bytes: number): string => `${bytes / MIB} MiB`;
