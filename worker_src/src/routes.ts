/** Every route of the API. A new one is covered by the router, the OpenAPI document and the tests by being here. */
import { commands } from "./capabilities/commands.ts";
import { lifecycle } from "./capabilities/lifecycle.ts";
import type { Route } from "./route.ts";

export const ROUTES: readonly Route[] = [
  ...lifecycle,
  ...commands,
];
