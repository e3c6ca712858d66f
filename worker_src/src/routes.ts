/** Every route of the API. A new one is covered by the router, the OpenAPI document and the tests by being here. */
import { code } from "./capabilities/code.ts";
import { commands } from "./capabilities/commands.ts";
import { files } from "./capabilities/files.ts";
import { git } from "./capabilities/git.ts";
import { lifecycle } from "./capabilities/lifecycle.ts";
import { ports } from "./capabilities/ports.ts";
import { processes } from "./capabilities/processes.ts";
import { sessions } from "./capabilities/sessions.ts";
import { status } from "./capabilities/status.ts";
import { storage } from "./capabilities/storage.ts";
import { terminal } from "./capabilities/terminal.ts";
import { watch } from "./capabilities/watch.ts";
import { describing } from "./openapi.ts";
import { chat } from "./patterns/chat.ts";
import { codingAgent } from "./patterns/coding-agent.ts";
import { environments } from "./patterns/environment.ts";
import { generate } from "./patterns/generate.ts";
import { openaiTools } from "./patterns/openai-tools.ts";
import { parallel } from "./patterns/parallel.ts";
import { pipelines } from "./patterns/pipeline.ts";
import { run } from "./patterns/run.ts";
import { workspace } from "./patterns/workspace.ts";

export const ROUTES = describing([
  ...status,
  ...lifecycle,
  ...commands,
  ...files,
  ...sessions,
  ...git,
  ...code,
  ...processes,
  ...ports,
  ...storage,
  ...terminal,
  ...watch,
  ...run,
  ...workspace,
  ...chat,
  ...pipelines,
  ...generate,
  ...codingAgent,
  ...environments,
  ...openaiTools,
  ...parallel,
]);
