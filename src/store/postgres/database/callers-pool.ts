/**
 * What a caller's pool reveals about its connections. The heartbeat must not wait for a connection
 * that a handler holds, so it gets its own, made from the options of the pool: on a thread if the
 * options are plain values, else on the event loop.
 */
import type { PgPool } from "./pool.ts";

/** Options of `pg.Client`. */
export type ConnectionOptions = Readonly<Record<string, unknown>>;

/** Why another thread cannot connect as the pool does. */
export interface NotPlain {
  readonly missing: string;
}

/** Options for a connection on this thread. Null: the pool does not reveal them. */
export function optionsOf(pool: PgPool): ConnectionOptions | null {
  const options: unknown = Reflect.get(pool, "options");
  const Client: unknown = Reflect.get(pool, "Client");
  if (!isObject(options) || typeof Client !== "function") return null;
  return { ...visible(options), Client };
}

/** Options for a connection on another thread. */
export function plainOptionsOf(pool: PgPool): ConnectionOptions | NotPlain {
  const options = optionsOf(pool);
  if (options === null) return { missing: "the pool does not reveal its connection options" };
  const found = Object.keys(NOT_PLAIN).find((name) => isSet(pool, name));
  return found === undefined ? resolved(options) : { missing: NOT_PLAIN[found] ?? "" };
}

/** Whether the application has called `end`. Only a pool of `pg` says so. */
export function hasEnded(pool: PgPool): boolean {
  return Reflect.get(pool, "ending") === true || Reflect.get(pool, "ended") === true;
}

/** Connections at most; null if unknown. */
export function sizeOf(pool: PgPool): number | null {
  const max = optionsOf(pool)?.["max"];
  return typeof max === "number" ? max : null;
}

/** `pg` hides passwords and keys from a copy. */
function visible(options: object): ConnectionOptions {
  const ssl: unknown = Reflect.get(options, "ssl");
  const key: unknown = isObject(ssl) ? Reflect.get(ssl, "key") : undefined;
  return {
    ...options,
    password: Reflect.get(options, "password"),
    ...(isObject(ssl) ? { ssl: key === undefined ? ssl : { ...ssl, key } } : {}),
  };
}

/** Options that no thread can receive, and that decide where a connection leads. */
const NOT_PLAIN: Readonly<Record<string, string>> = {
  Client: "the pool has its own class of clients",
  stream: "the pool makes its own streams",
  onConnect: "the pool prepares its connections with onConnect",
};

/** What a client has resolved from options, environment and defaults. */
const RESOLVED = ["host", "port", "user", "database", "options", "sslnegotiation"];

/** Not connected: the thread must not resolve the options to another server than this process. */
function resolved(options: ConnectionOptions): ConnectionOptions | NotPlain {
  try {
    const client: object = Reflect.construct(Object(options["Client"]), [options]);
    const parameters: unknown = Reflect.get(client, "connectionParameters");
    if (!isObject(parameters)) return { missing: "the clients of the pool are not those of pg" };
    const { password, ssl } = visible(parameters);
    if (typeof password === "function")
      return { missing: "the password of the pool is a function" };
    return structuredClone({
      ...Object.fromEntries(RESOLVED.map((name) => [name, Reflect.get(parameters, name)])),
      ...(password === undefined ? {} : { password }),
      ...(ssl === undefined ? {} : { ssl }),
    });
  } catch {
    return { missing: "the options of the pool cannot be passed to a thread" };
  }
}

function isSet(pool: PgPool, name: string): boolean {
  const options: unknown = Reflect.get(pool, "options");
  return isObject(options) && Reflect.get(options, name) !== undefined;
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}
