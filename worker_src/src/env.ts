/**
 * Everything the deployment may give the Worker. Only the binding `Sandbox` is required; what is missing is refused,
 * never guessed.
 */
import type { Sandbox } from "./sandbox.ts";

export type SandboxNamespace = DurableObjectNamespace<Sandbox>;

export interface Env {
  Sandbox: SandboxNamespace;

  FILES_BUCKET?: R2Bucket;
  BACKUP_BUCKET?: R2Bucket;
  ARTIFACTS_BUCKET?: R2Bucket;
  CONVERSATIONS?: KVNamespace;
  EVENTS?: Queue;
  RATE_LIMITER?: RateLimit;
  AI?: Ai;

  /** JSON array of keys, see auth/keys.ts. */
  API_KEYS?: string;
  R2_ACCESS_KEY_ID?: string;
  R2_SECRET_ACCESS_KEY?: string;
  MODEL_API_KEY?: string;
  GITHUB_TOKEN?: string;
  AGENT_API_KEY?: string;

  PREVIEW_HOSTNAME?: string;
  /** "required": preview hosts also want a Cloudflare Access token. */
  PREVIEW_ACCESS?: string;
  API_HOSTNAME?: string;
  ACCESS_TEAM_DOMAIN?: string;
  /** JSON array of the API's audience tags. */
  ACCESS_AUDIENCES?: string;
  /** JSON array of the previews' audience tags. */
  PREVIEW_ACCESS_AUDIENCES?: string;
  ACCESS_KEYS_URL?: string;
  /** JSON array of the scopes an Access identity gets; all when absent. */
  ACCESS_SCOPES?: string;
  BACKUP_BUCKET_NAME?: string;
  BACKUP_BUCKET_ENDPOINT?: string;
  CLOUDFLARE_ACCOUNT_ID?: string;
  MODEL_ENDPOINT?: string;
  MODEL_NAME?: string;
  GITHUB_API?: string;
  /** JSON array of `owner/name` or `owner/*`: the repositories GITHUB_TOKEN may be used for. */
  GITHUB_REPOSITORIES?: string;
  REGION?: string;
  SLEEP_AFTER?: string;
  /** Hours after which an unused sandbox is destroyed by the scheduled handler; 24 when absent. */
  SWEEP_AFTER_HOURS?: string;
  /** How the SDK talks to its server in a container: http, websocket or rpc; http when absent. */
  SANDBOX_TRANSPORT?: string;
  /** What sandboxes reach: `"off"`, `"on"` or an array of hosts, as JSON; on when absent. See egress.ts. */
  EGRESS?: string;
  /** JSON object from name to what is added to requests for a host. See egress.ts. */
  EGRESS_CREDENTIALS?: string;
  /** "off": no page at /console. */
  CONSOLE?: string;
  /** JSON object from kind to the binding of its Durable Object class. */
  SANDBOX_KINDS?: string;
  /** "true" where sandboxes reach no R2 or cannot mount: files and backups are copied through the bindings. */
  LOCAL_BUCKETS?: string;
  ENVIRONMENT?: string;
}
