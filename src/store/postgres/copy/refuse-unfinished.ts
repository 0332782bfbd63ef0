/** Keeps a store from opening a schema with an unfinished copy. */
import { MillraceError } from "../../../core/errors.ts";
import { send, type Pool } from "../database/pool.ts";
import { callOf, inSchema, type SqlAccess } from "../database/statements.ts";

export async function refuseUnfinished(
  pool: Pool,
  schema: string,
  access: SqlAccess,
): Promise<void> {
  const all = access === "routines" ? callOf("installation") : "SELECT value FROM millrace.meta";
  const text = inSchema(`${all} WHERE name = 'copy'`, schema);
  const { rows } = await pool.withConnection((client) => send(client, { text }));
  if (rows.length === 0) return;
  const message = `the copy into the schema ${schema} is not finished`;
  throw new MillraceError("STORE_INCOMPLETE", message, { details: { schema } });
}
