// Deploys it by Pulumi's Automation API: `node deploy.ts up`, `preview` or `destroy`.

import { LocalWorkspace } from "@pulumi/pulumi/automation/index.js";
import { sandboxes } from "./sandboxes.ts";

const stack = await LocalWorkspace.createOrSelectStack(
  { stackName: "dev", projectName: "languages", program: sandboxes },
  { workDir: import.meta.dirname },
);
const commands = {
  preview: () => stack.preview({ onOutput: console.log }),
  up: () => stack.up({ onOutput: console.log }),
  destroy: () => stack.destroy({ onOutput: console.log }),
};
const command = commands[process.argv[2] as keyof typeof commands];
if (command === undefined) {
  console.error("say preview, up or destroy");
  process.exit(2);
}
try {
  await command();
} catch {
  process.exit(1); // Pulumi has said why
}
