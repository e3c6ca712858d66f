// Deploys it by Pulumi's Automation API: `node deploy.ts up`, `preview` or `destroy`.

import { LocalWorkspace } from "@pulumi/pulumi/automation/index.js";
import { sandboxes } from "./sandboxes.ts";

const stack = await LocalWorkspace.createOrSelectStack(
  { stackName: "dev", projectName: "languages", program: sandboxes },
  { workDir: import.meta.dirname },
);
const said = { onOutput: console.log };
switch (process.argv[2]) {
  case "preview":
    await stack.preview(said);
    break;
  case "up":
    await stack.up(said);
    break;
  case "destroy":
    await stack.destroy(said);
    break;
  default:
    throw new Error("say preview, up or destroy");
}
