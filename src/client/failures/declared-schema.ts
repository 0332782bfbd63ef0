/**
 * The schema of a payload as workers have declared it, for processes that do not know the type.
 * The library that checks it is loaded when it is needed first.
 */
import type { StandardSchemaV1 } from "@standard-schema/spec";
import type { JobStore } from "../../store/store.ts";

/** Undefined: no worker has declared a schema, or the schema has parts that cannot be checked. */
export async function declaredSchema(
  store: Pick<JobStore, "types">,
  type: string,
): Promise<StandardSchemaV1 | undefined> {
  const [declared] = await store.types(type);
  const text = declared?.payloadSchema ?? null;
  if (text === null) return undefined;
  const { fromJSONSchema } = await import("zod");
  try {
    return fromJSONSchema(JSON.parse(text));
  } catch {
    // The handler's own schema checks the payload when the job runs.
    return undefined;
  }
}
