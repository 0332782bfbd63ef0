/** The schema of an error. */
import { z } from "@hono/zod-openapi";

export const PROBLEM: z.ZodType = z
  .strictObject({
    type: z.string(),
    title: z.string(),
    status: z.int().min(400).max(599),
    detail: z.string(),
    code: z.string(),
    hint: z.string(),
    request_id: z.string(),
    errors: z.array(z.strictObject({ path: z.string(), message: z.string() })).optional(),
  })
  .openapi("Problem", { description: "An error in the form of RFC 9457." });
