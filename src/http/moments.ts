/** Instants and durations in queries. */
import { z } from "@hono/zod-openapi";
import { durationMs, instantMs } from "../core/duration.ts";
import { shown } from "../core/text.ts";
import { invalid } from "./problem.ts";

export const MOMENT_TEXT: z.ZodString = z
  .string()
  .min(1)
  .max(40)
  .openapi({ description: "ISO text, or a time ago such as 2h." });

export const DURATION_TEXT: z.ZodString = z
  .string()
  .min(1)
  .max(20)
  .openapi({ description: "A duration such as 5m." });

/** `2h` is two hours ago. */
export function momentOf(name: string, text: string | undefined, now: number): number | undefined {
  if (text === undefined) return undefined;
  try {
    return isDurationText(text) ? Math.max(0, now - durationMs(text, name)) : instantMs(text, name);
  } catch {
    const expected = "ISO text with an offset, or a time ago such as 2h";
    throw invalid({ path: name, message: `must be ${expected}, not ${shown(text)}` });
  }
}

/** The milliseconds of a duration. */
export function lengthOf(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  try {
    if (isDurationText(text)) return durationMs(text, name);
  } catch {
    // A duration that is too long is refused like any other text.
  }
  throw invalid({ path: name, message: `must be a duration such as 5m, not ${shown(text)}` });
}

function isDurationText(text: string): text is `${number}m` {
  return /^\d+(\.\d+)?(ms|s|m|h|d)$/.test(text);
}

/** The values that are given. */
export function defined<Values extends object>(
  values: Values,
): { [Name in keyof Values]?: Exclude<Values[Name], undefined> } {
  const given: any = Object.fromEntries(
    Object.entries(values).filter(([, value]) => value !== undefined),
  );
  return given;
}
