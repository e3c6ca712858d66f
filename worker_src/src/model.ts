/**
 * One question to a language model: through an endpoint that speaks the chat-completions format, or the Workers AI
 * binding. Bounded in time and size.
 */
import type { Env } from "./env.ts";
import { Problem } from "./errors.ts";

export interface Message {
  role: "system" | "user" | "assistant";
  content: string;
}

const TIMEOUT_MS = 90_000;
const MAX_TOKENS = 2048;
/** Of the conversation, the newest part of this size is sent. */
const MAX_CHARACTERS = 60_000;
const DEFAULT_MODEL = "@cf/meta/llama-3.3-70b-instruct-fp8-fast";

/** The system message and as many of the newest others as fit. */
export function fitting(messages: Message[], limit = MAX_CHARACTERS): Message[] {
  const [first, ...rest] = messages;
  const kept: Message[] = [];
  let size = first?.content.length ?? 0;
  for (const message of rest.reverse()) {
    size += message.content.length;
    if (size > limit && kept.length > 0) break;
    kept.unshift({ ...message, content: message.content.slice(0, limit) });
  }
  return first ? [first, ...kept] : [];
}

async function fromEndpoint(env: Env, endpoint: string, messages: Message[]): Promise<unknown> {
  const response = await fetch(endpoint, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      ...(env.MODEL_API_KEY && { authorization: `Bearer ${env.MODEL_API_KEY}` }),
    },
    body: JSON.stringify({ model: env.MODEL_NAME ?? DEFAULT_MODEL, messages, max_tokens: MAX_TOKENS }),
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  if (!response.ok) throw new Problem("model_failed", `The model's endpoint answered ${response.status}.`);
  const answer = await response.json<{ choices?: { message?: { content?: unknown } }[] }>();
  return answer.choices?.[0]?.message?.content;
}

async function fromBinding(env: Env, ai: Ai, messages: Message[]): Promise<unknown> {
  // The binding's type lists the models of its day; the name is the deployer's choice. A Worker that is bound in its
  // place is asked the same way.
  const model = ai as unknown as { run(model: string, input: object): Promise<{ response?: unknown }> };
  const late = new Promise<never>((_, reject) => setTimeout(reject, TIMEOUT_MS));
  const asked = model.run(env.MODEL_NAME ?? DEFAULT_MODEL, { messages, max_tokens: MAX_TOKENS });
  return (await Promise.race([asked, late])).response;
}

export async function ask(env: Env, messages: Message[]): Promise<string> {
  const sent = fitting(messages);
  if (!env.MODEL_ENDPOINT && !env.AI)
    throw new Problem("not_configured", "This needs a model: MODEL_ENDPOINT, or the Workers AI binding AI.");
  let content: unknown;
  try {
    content = env.MODEL_ENDPOINT
      ? await fromEndpoint(env, env.MODEL_ENDPOINT, sent)
      : await fromBinding(env, env.AI!, sent);
  } catch (error) {
    if (error instanceof Problem) throw error;
    throw new Problem("model_failed", "The model did not answer.");
  }
  if (typeof content !== "string") throw new Problem("model_failed", "The model's answer holds no text.");
  return content;
}

/** The first fenced block of an answer, or null. */
export function fencedBlock(answer: string): string | null {
  return /```[^\n`]*\n([\s\S]*?)```/.exec(answer)?.[1] ?? null;
}
