/** A model writes code, it runs, and what goes wrong goes back to the model, for a bounded number of tries. */
import * as v from "valibot";

import { CodeResult, requireLanguage, runOnce } from "../capabilities/code.ts";
import { ask, fencedBlock, type Message } from "../model.ts";
import { type Call, route } from "../route.ts";
import type { SandboxMethods } from "../sandboxes.ts";
import { filled, Language, Timeout, whole } from "../schemas.ts";
import { randomName } from "../tenancy.ts";
import { ephemeral } from "./ephemeral.ts";
import { recorded } from "./events.ts";

const MAX_TRIES = 5;
const MAX_FEEDBACK = 4_000;

const Body = v.strictObject({
  task: filled(20_000),
  language: v.optional(Language, "javascript"),
  max_tries: v.optional(whole(1, MAX_TRIES), 3),
  timeout_ms: Timeout,
});
type Body = v.InferOutput<typeof Body>;
const Result = v.object({ success: v.boolean(), tries: v.number(), code: v.string(), ...CodeResult.entries });
type Result = v.InferOutput<typeof Result>;

const system = (language: string): string =>
  `Write a ${language} program that does what the user asks and prints the result. Answer with exactly one fenced code block.`;

async function attempt(call: Call, body: Body, sandbox: SandboxMethods): Promise<Result> {
  const messages: Message[] = [
    { role: "system", content: system(body.language) },
    { role: "user", content: body.task },
  ];
  // What the model writes costs money, and would be for nothing.
  await requireLanguage(sandbox, body.language);
  for (let tries = 1; ; tries += 1) {
    const answer = await ask(call.env, messages);
    const code = fencedBlock(answer) ?? answer;
    const result = await runOnce(sandbox, code, body.timeout_ms, body.language);
    if (!result.error || tries === body.max_tries) return { success: !result.error, tries, code, ...result };
    const { name, message, traceback } = result.error;
    const feedback = `It failed: ${name}: ${message}\n${traceback.join("\n")}`.slice(0, MAX_FEEDBACK);
    messages.push(
      { role: "assistant", content: answer },
      { role: "user", content: `${feedback}\nCorrect the program.` },
    );
  }
}

export const generate = [
  route({
    method: "POST",
    path: "/v1/generate",
    operation: "generateAndRun",
    summary: "Have a model write a program for a task and run it until it works or the tries are used up",
    scope: "pattern:generate",
    body: Body,
    returns: Result,
    creates: true,
    handle: (call) =>
      recorded(call, "generate", () =>
        ephemeral(call, randomName("generate"), (sandbox) => attempt(call, call.body, sandbox)),
      ),
  }),
];
