/** A function that no worker knows yet: in a deploy, the worker that knows it may start last. */
import { propertyOf } from "../core/fault.ts";
import type { Context } from "../api/context.ts";
import { insideOf } from "../api/channels/run-inside.ts";

/** How often a task looks again, and for how long it takes a missing function for a deploy. */
const LOOK_MS = 30_000;
const DEPLOY_MS_MAX = 900_000;

/**
 * Sends a task back that names an unknown function, for as long as a deploy may take. Returns if
 * the error is another one, or has lasted longer. For tasks that the queue does not try again.
 */
export async function awaitNewerCode(ctx: Context<any, any>, error: unknown): Promise<void> {
  if (propertyOf(error, "code") !== "FUNCTION_UNKNOWN") return;
  const inside = insideOf(ctx);
  const since: number = await ctx.step(`unknown ${ctx.job.id}`, () => inside.now());
  if (inside.now() - since < DEPLOY_MS_MAX) inside.sendBack(LOOK_MS, error);
}
