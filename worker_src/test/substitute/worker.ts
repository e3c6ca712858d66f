/** The Worker as deployed, with the substitute as its Sandbox class, and a further kind as a deployment would add it. */
export { ContainerProxy, default } from "../../src/index.ts";

import { SubstituteSandbox } from "./sandbox.ts";

export class Sandbox extends SubstituteSandbox {}
export class SandboxPython extends SubstituteSandbox {}
