/** The statements of `millrace migrate --roles`: roles, grants and routines of an installation. */
import type { Session } from "../database/session.ts";
import { quoted } from "../database/statements.ts";
import { requireOwner } from "./access.ts";
import { foundRoutines, routineStatements } from "./install-routines.ts";

export async function roleStatements(session: Session): Promise<readonly string[]> {
  requireOwner(session, "millrace migrate --roles");
  const { read, schema } = session;
  const roles = await read.all("role_statements", {});
  const found = await foundRoutines(read, schema);
  return [
    ...roles.map(({ statement }) => statement),
    // What the owner creates belongs to the owner.
    `SET ROLE ${quoted(`${schema}_owner`)}`,
    ...routineStatements(schema, found, { drop: true }),
    "RESET ROLE",
  ];
}
