/** Nobody works on an installation that is still being copied into. */
import { MillraceError } from "../../../core/errors.ts";
import { send, type Pool } from "../database/pool.ts";
import { inSchema } from "../database/statements.ts";

/** Refuses a schema with a copy that has not ended. */
export async function refuseUnfinished(pool: Pool, schema: string): Promise<void> {
  const text = inSchema("SELECT value FROM millrace.meta WHERE name = 'copy'", schema);
  const { rows } = await pool.withConnection((client) => send(client, { text }));
  if (rows.length === 0) return;
  const message = `a copy into the schema ${schema} has not ended`;
  throw new MillraceError("STORE_INCOMPLETE", message, { details: { schema } });
}
