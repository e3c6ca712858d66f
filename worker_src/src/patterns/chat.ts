/**
 * A chat agent with a sandbox. KV keeps, for each conversation, which sandbox and session belong to it and what
 * was said.
 */
import * as v from "valibot";

import { execute } from "../capabilities/commands.ts";
import type { Env } from "../env.ts";
import { Problem } from "../errors.ts";
import { ask, fencedBlock, type Message } from "../model.ts";
import { forget } from "../registry.ts";
import { type Call, route } from "../route.ts";
import { DEFAULT_TIMEOUT_MS, filled, whole } from "../schemas.ts";
import { nameForConversation } from "../tenancy.ts";
import { recorded } from "./events.ts";

const AT = "/v1/conversations/{conversation}" as const;
const TTL_S = 30 * 86_400;
const MAX_MESSAGES = 60;
const MAX_OUTPUT = 8_000;
const SYSTEM =
  "You help the user with the aid of a Linux sandbox. To run a shell command, answer with exactly one fenced code block; its output comes back to you. When you need nothing more, answer in plain text without a code block.";

interface Conversation {
  sandbox: string;
  session: string;
  messages: Message[];
}

type ChatCall = Call<unknown, unknown, "conversation">;

function store(env: Env): KVNamespace {
  if (!env.CONVERSATIONS) throw new Problem("not_configured", "Conversations need the KV binding CONVERSATIONS.");
  return env.CONVERSATIONS;
}

const keyOf = ({ tenantKey, params }: ChatCall): string => `chat/${tenantKey}/${params.conversation}`;
const load = (call: ChatCall): Promise<Conversation | null> => store(call.env).get<Conversation>(keyOf(call), "json");

async function begin(call: ChatCall): Promise<Conversation> {
  const name = await nameForConversation(call.params.conversation);
  const { sandbox } = await call.open(name);
  return { sandbox: name, session: (await sandbox.createSession({ id: crypto.randomUUID() })).id, messages: [] };
}

async function converse(
  call: Call,
  conversation: Conversation,
  message: string,
  maxSteps: number,
): Promise<{ answer: string; commands: number }> {
  const { sandbox } = await call.open(conversation.sandbox);
  const say = (role: Message["role"], content: string): unknown => conversation.messages.push({ role, content });
  say("user", message);
  for (let commands = 0; ; commands += 1) {
    const answer = await ask(call.env, [{ role: "system", content: SYSTEM }, ...conversation.messages]);
    say("assistant", answer);
    const line = fencedBlock(answer);
    if (line === null || commands === maxSteps) return { answer, commands };
    const result = await execute(sandbox, line, { session: conversation.session, timeoutMs: DEFAULT_TIMEOUT_MS });
    say("user", `exit code ${result.exitCode}\n${(result.stdout + result.stderr).slice(0, MAX_OUTPUT)}`);
  }
}

export const chat = [
  route({
    method: "POST",
    path: `${AT}/messages`,
    operation: "sendMessage",
    summary: "Say something to the agent of a conversation; it may run commands before it answers",
    long: true,
    scope: "pattern:chat",
    body: v.strictObject({
      message: filled(20_000),
      max_commands: v.optional(whole(0, 10), 5),
    }),
    returns: v.object({ answer: v.string(), commands: v.number(), session: v.string() }),
    creates: true,
    handle: (call) =>
      recorded(call, "chat", async () => {
        const conversation = (await load(call)) ?? (await begin(call));
        try {
          return {
            ...(await converse(call, conversation, call.body.message, call.body.max_commands)),
            session: conversation.session,
          };
        } finally {
          conversation.messages = conversation.messages.slice(-MAX_MESSAGES);
          await store(call.env).put(keyOf(call), JSON.stringify(conversation), { expirationTtl: TTL_S });
        }
      }),
  }),
  route({
    method: "GET",
    path: AT,
    operation: "getConversation",
    summary: "What was said in a conversation",
    scope: "pattern:chat",
    returns: v.object({ session: v.string(), messages: v.array(v.object({ role: v.string(), content: v.string() })) }),
    async handle(call) {
      const conversation = await load(call);
      if (!conversation) throw new Problem("not_found", "There is no such conversation.");
      return { session: conversation.session, messages: conversation.messages };
    },
  }),
  route({
    method: "DELETE",
    path: AT,
    operation: "deleteConversation",
    summary: "Forget a conversation and destroy its sandbox",
    scope: "pattern:chat",
    async handle(call) {
      const kept = await load(call);
      // A first message that was cut off has left a sandbox, and no record of it.
      const name = kept?.sandbox ?? (await nameForConversation(call.params.conversation));
      const opened = await call.open(name, { egress: "any" });
      await opened.sandbox.destroy();
      call.waitUntil(forget(call.env, opened));
      if (!kept) throw new Problem("not_found", "There is no such conversation.");
      await store(call.env).delete(keyOf(call));
    },
  }),
];
