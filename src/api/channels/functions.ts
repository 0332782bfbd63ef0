/** The functions of an application that jobs call by name. */
import type { Context } from "../context.ts";

/**
 * A function that jobs call by its name. It gets the whole payload of the call and the context of
 * the job, and answers an envelope: `{ status, payload }`, or the older form
 * `{ success, payload, error, validation_failure_message }`. It may be called again after a crash,
 * so it must be idempotent.
 */
export type NamedFunction = (payload: any, ctx: Context<any, any>) => unknown;

/** Functions by the names under which payloads name them. */
export type NamedFunctions = Readonly<Record<string, NamedFunction>>;
