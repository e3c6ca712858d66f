/** A Cloudflare Access team: signs tokens, publishes keys. */
import { generateKeyPairSync, sign } from "node:crypto";

export const TEAM = "team.cloudflareaccess.test";
export const AUDIENCE = "a".repeat(64);
export const KEYS_URL = "https://keys.test/certs";

const pair = () => generateKeyPairSync("rsa", { modulusLength: 2048 });
const [current, stranger] = [pair(), pair()];

export const published = { keys: [{ ...current.publicKey.export({ format: "jwk" }), kid: "current", alg: "RS256", use: "sig" }] };

const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");

interface Choices {
  claims?: Record<string, unknown>;
  header?: Record<string, unknown>;
  by?: "current" | "stranger";
}

/** A token that is valid but for what is chosen. */
export function token({ claims = {}, header = {}, by = "current" }: Choices = {}): string {
  const now = Math.floor(Date.now() / 1000);
  const payload = { iss: `https://${TEAM}`, aud: [AUDIENCE], email: "carol@example.test", sub: "1", iat: now - 10, nbf: now - 10, exp: now + 600, ...claims };
  const signed = `${encode({ alg: "RS256", typ: "JWT", kid: "current", ...header })}.${encode(JSON.parse(JSON.stringify(payload)))}`;
  const { privateKey } = by === "current" ? current : stranger;
  return `${signed}.${sign("sha256", Buffer.from(signed), privateKey).toString("base64url")}`;
}
