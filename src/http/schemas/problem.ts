/** The schemas of an error. */
import { z } from "@hono/zod-openapi";

const FIELDS = {
  type: z.string(),
  title: z.string(),
  status: z.int().min(400).max(599),
  detail: z.string(),
  code: z.string(),
  hint: z.string(),
  holder: z.string().optional().openapi({ description: "The job that holds the key." }),
  errors: z.array(z.strictObject({ path: z.string(), message: z.string() })).optional(),
};

export const PROBLEM: z.ZodType = z
  .strictObject({ ...FIELDS, request_id: z.string() })
  .openapi("Problem", { description: "An error in the form of RFC 9457." });

/** An error about a part of a request, within an answer that has the id of the request. */
export const PART_PROBLEM: z.ZodType = z.strictObject(FIELDS).openapi("PartProblem");
