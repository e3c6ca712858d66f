/** What the SDK's module takes from Workers when it is loaded; its HTTP client uses none of it. */
export class DurableObject {}
export class WorkerEntrypoint {}
export class RpcTarget {}
export const env = {};
export const exports = {};
export const tracing = undefined;
