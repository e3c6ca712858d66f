// What is deployed: one stack of sandboxes in two kinds, with a preview domain.

import * as pulumi from "@pulumi/pulumi";
import { SandboxStack } from "pulumi-cloudflare-sandbox";

export async function sandboxes() {
  const config = new pulumi.Config();
  const stack = new SandboxStack("sandboxes", {
    name: "sandboxes",
    environment: "throw-away",
    image: { files: { "/etc/motd": "motd.txt" } },
    container: { instanceType: "lite", maxInstances: config.getNumber("maxInstances") ?? 5 },
    furtherSandboxes: { shell: { className: "SandboxShell", container: { maxInstances: 2 } } },
    domain: { hostname: "box.previews.example", zone: "previews.example" },
    access: { apiKeys: { team: { sha256: "6b".repeat(32), tenant: "team", scopes: ["exec", "files:*"] } } },
    secrets: { MODEL_API_KEY: config.requireSecret("modelApiKey") },
  });
  return { workerName: stack.workerName, previewHostname: stack.previewHostname, images: stack.images };
}
