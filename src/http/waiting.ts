/** How long a request may wait for something to happen. */
import { z } from "@hono/zod-openapi";
import { waitMs } from "../core/duration.ts";
import { invalid } from "./problem.ts";

/** The longest wait of a request. */
export const WAIT_MS_MAX = 60_000;
const WAIT = "a duration of at most 60s, such as 30s";

const WAIT_TEXT: z.ZodOptional<z.ZodString> = z
  .string()
  .regex(/^\d{1,5}(\.\d{1,3})?(ms|s|m)$/, { error: WAIT })
  .optional()
  .openapi({ description: "How long to wait: at most 60s." });

const STREAM_TOKEN: z.ZodOptional<z.ZodString> = z
  .string()
  .max(200)
  .optional()
  .openapi({ description: "A stream token of the job." });

/** The query of routes that a stream token opens. */
export const STREAM_QUERY: z.ZodObject<{ token: typeof STREAM_TOKEN }, z.core.$strict> =
  z.strictObject({ token: STREAM_TOKEN });

export const WAIT_QUERY: z.ZodObject<{ wait: typeof WAIT_TEXT }, z.core.$strict> = z.strictObject({
  wait: WAIT_TEXT,
});

/** The milliseconds of `?wait=30s` or, without it, of `Prefer: wait=30`. */
export function waitOf(text: string | undefined, prefer: string | undefined): number {
  if (text === undefined) {
    const seconds = /(?:^|[\s,;])wait=(\d{1,5})(?=$|[\s,;])/.exec(prefer ?? "")?.[1] ?? "0";
    return Math.min(Number(seconds) * 1_000, WAIT_MS_MAX);
  }
  const ms = waitMs(text, 0) ?? 0;
  if (ms <= WAIT_MS_MAX) return ms;
  throw invalid({ path: "wait", message: `must be ${WAIT}, not ${text}` });
}
