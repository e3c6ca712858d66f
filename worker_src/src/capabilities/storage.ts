/** Backups of a directory to R2 and back, and the tenant's part of a bucket mounted as a directory. */
import * as v from "valibot";

import { mayReach } from "../egress.ts";
import type { Env } from "../env.ts";
import { Problem } from "../errors.ts";
import { route } from "../route.ts";
import type { SandboxMethods } from "../sandboxes.ts";
import { filled, Path, whole } from "../schemas.ts";
import { isDirectory } from "./directories.ts";

const OWNERS = "owners/";
const MAX_TTL_S = 365 * 86_400;
const BackupDir = v.pipe(
  v.string(),
  v.maxLength(4096),
  v.regex(/^\/(?!.*\/\.\.(?:\/|$))(?:workspace|home|tmp|var\/tmp|app)(?:\/[^\0\n]*)?$/),
);

/** Backup ids are not secret enough to be keys, so who owns one is written beside it. */
const ownerKey = (tenantKey: string, id = ""): string => `${OWNERS}${tenantKey}/${id}`;

function backupBucket(env: Env): R2Bucket {
  if (!env.BACKUP_BUCKET) throw new Problem("not_configured", "Backups need the bucket binding BACKUP_BUCKET.");
  return env.BACKUP_BUCKET;
}

const localBucket = (env: Env): { localBucket?: true } => (env.LOCAL_BUCKETS === "true" ? { localBucket: true } : {});

/** On an account, backups go straight from the sandbox to R2. */
async function reachesBackups(env: Env, sandbox: SandboxMethods): Promise<void> {
  if (localBucket(env).localBucket) return;
  const endpoint = env.BACKUP_BUCKET_ENDPOINT || `https://${env.CLOUDFLARE_ACCOUNT_ID}.r2.cloudflarestorage.com`;
  const { hostname } = new URL(endpoint);
  if (!mayReach(await sandbox.egress(), hostname))
    throw new Problem("invalid_state", `Backups go to ${hostname}, which this sandbox may not reach; list it.`);
}

/** The SDK stands in for a mount by watching the directory, and the server watches nothing elsewhere. */
const LOCAL_MOUNTS = /^\/workspace\/(?!(?:.*\/)?\.\.(?:\/|$))./;

const Backup = v.object({
  backup: v.string(),
  directory: v.string(),
  name: v.optional(v.string()),
  created: v.string(),
});

export const storage = [
  route({
    method: "POST",
    path: "/v1/sandboxes/{name}/backups",
    operation: "createBackup",
    summary: "Back a directory up",
    long: true,
    scope: "storage",
    body: v.strictObject({
      directory: v.optional(BackupDir, "/workspace"),
      name: v.optional(filled(256)),
      ttl_seconds: v.optional(whole(60, MAX_TTL_S)),
      respect_gitignore: v.optional(v.boolean(), false),
    }),
    returns: Backup,
    status: 201,
    creates: true,
    async handle({ env, open, body, tenantKey }) {
      const bucket = backupBucket(env);
      const { sandbox } = await open();
      await reachesBackups(env, sandbox);
      if (!(await isDirectory(sandbox, body.directory)))
        throw new Problem("not_found", `There is no directory ${body.directory}.`);
      const { id, dir } = await sandbox.createBackup({
        dir: body.directory,
        gitignore: body.respect_gitignore,
        ...(body.name && { name: body.name }),
        ...(body.ttl_seconds && { ttl: body.ttl_seconds }),
        ...localBucket(env),
      });
      const view = {
        backup: id,
        directory: dir,
        ...(body.name && { name: body.name }),
        created: new Date().toISOString(),
      };
      await bucket.put(ownerKey(tenantKey, id), JSON.stringify(view));
      return view;
    },
  }),
  route({
    method: "GET",
    path: "/v1/backups",
    operation: "listBackups",
    summary: "The caller's backups, at most 100",
    scope: "storage",
    returns: v.object({ backups: v.array(Backup) }),
    async handle({ env, tenantKey }) {
      const bucket = backupBucket(env);
      const { objects } = await bucket.list({ prefix: ownerKey(tenantKey), limit: 100 });
      const kept = await Promise.all(objects.map(async ({ key }) => (await bucket.get(key))?.json()));
      return { backups: kept.filter((each) => each !== undefined) };
    },
  }),
  route({
    method: "POST",
    path: "/v1/sandboxes/{name}/backups/{backup}/restore",
    operation: "restoreBackup",
    summary: "Put a backup back; it stays only as long as the container does",
    long: true,
    scope: "storage",
    returns: v.object({ backup: v.string(), directory: v.string() }),
    async handle({ env, open, params, tenantKey }) {
      const owned = await backupBucket(env).get(ownerKey(tenantKey, params.backup));
      if (!owned) throw new Problem("not_found", "There is no such backup.");
      const { backup, directory } = await owned.json<v.InferOutput<typeof Backup>>();
      const { sandbox } = await open();
      await reachesBackups(env, sandbox);
      await sandbox.restoreBackup({ id: backup, dir: directory, ...localBucket(env) });
      return { backup, directory };
    },
  }),
  route({
    method: "POST",
    path: "/v1/sandboxes/{name}/mounts",
    operation: "mountFiles",
    summary: "Mount the caller's part of the files bucket as a directory",
    scope: "storage",
    body: v.strictObject({ path: Path, read_only: v.optional(v.boolean(), false) }),
    returns: v.object({ path: v.string(), read_only: v.boolean() }),
    status: 201,
    creates: true,
    async handle({ env, open, body, tenantKey }) {
      if (!env.FILES_BUCKET) throw new Problem("not_configured", "Mounts need the bucket binding FILES_BUCKET.");
      if (localBucket(env).localBucket && !LOCAL_MOUNTS.test(body.path))
        throw new Problem(
          "invalid_request",
          "body.path: on this stack files are copied to and fro, which works for directories below /workspace only",
        );
      const { sandbox } = await open();
      // The prefix is what keeps tenants apart, so no caller chooses it.
      const options = { prefix: `/tenants/${tenantKey}/`, readOnly: body.read_only };
      await sandbox.mountBucket("FILES_BUCKET", body.path, { ...options, ...localBucket(env) });
      return { path: body.path, read_only: body.read_only };
    },
  }),
  route({
    method: "DELETE",
    path: "/v1/sandboxes/{name}/mounts",
    operation: "unmountFiles",
    summary: "Unmount a directory",
    scope: "storage",
    query: { path: Path },
    async handle({ open, query }) {
      await (await open()).sandbox.unmountBucket(query.path);
    },
  }),
];
