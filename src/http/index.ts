/** `millrace/http`: the HTTP API inside an application. */
export { createHandler } from "./handler.ts";
export type { HandlerOptions } from "./handler.ts";
export type { Authenticate, HostUser } from "./identity/identify.ts";
export { toNodeHandler } from "./node-handler.ts";
