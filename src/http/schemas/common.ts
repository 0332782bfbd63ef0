/** Schemas that several routes share. The message of a pattern says what a value must be. */
import { z } from "@hono/zod-openapi";

export const NAME: z.ZodString = z.string().min(1).max(200);
export const KEY: z.ZodString = z.string().min(1).max(500);
export const TEXT: z.ZodString = z.string();
export const TEXT_OR_NULL: z.ZodNullable<z.ZodString> = z.string().nullable();
export const MOMENT: z.ZodISODateTime = z.iso.datetime();
export const MOMENT_OR_NULL: z.ZodNullable<z.ZodISODateTime> = z.iso.datetime().nullable();
export const COUNT: z.ZodInt = z.int().min(0);
export const ANYTHING: z.ZodUnknown = z.unknown().openapi({ description: "Any JSON." });
export const REMARK: z.ZodString = z.string().min(1).max(2_000);

/** The reason of an act that needs one. Blanks alone are no reason. */
export const NEEDED_REASON: z.ZodString = neededReason(2_000);

/** The reason of an act that needs none: a body, or the query of a DELETE. */
export const REASON: z.ZodObject<{ reason: z.ZodOptional<z.ZodString> }, z.core.$strict> =
  z.strictObject({ reason: REMARK.optional() });

/** The same with another maximum. */
export function neededReason(lengthMax: number): z.ZodString {
  return z.string().max(lengthMax).regex(/\S/, { error: "a text with more than blanks" });
}

/** An id as callers write it; the client reads it and refuses others. */
export const ID: z.ZodString = z
  .string()
  .min(1)
  .max(60)
  .openapi({ description: "26 letters, or a UUID." });

/** The path of one job. */
export const ID_PARAMS: z.ZodObject<{ id: z.ZodString }, z.core.$strict> = z.strictObject({
  id: ID,
});

const PAGE_LIMIT_MAX = 200;

/** How many entries a page has. Lower than in the library: a page must fit into memory. */
export const LIMIT: z.ZodDefault<z.ZodInt> = z.int().min(1).max(PAGE_LIMIT_MAX).default(50);

/** The `next` of the previous page. */
export const AFTER: z.ZodString = z
  .string()
  .min(1)
  .max(200)
  .openapi({ description: "The `next` of the previous page." });

/** A count that may have stopped at a maximum. */
export const COUNTED: z.ZodObject<{ count: z.ZodInt; atLeast: z.ZodBoolean }, z.core.$strict> =
  z.strictObject({ count: COUNT, atLeast: z.boolean() });

/** Asks for the number of all entries of a list, which costs a second read. */
export const WITH_TOTAL: z.ZodOptional<z.ZodEnum<{ true: "true"; false: "false" }>> = z
  .enum(["true", "false"])
  .optional()
  .openapi({ description: "With `true`, `total` counts all that match, up to 10,000." });

export const TOTAL: typeof COUNTED = COUNTED.openapi({
  description: "All that match, up to 10,000; `atLeast`: there are more.",
});
