/**
 * The three gates of the admin API: IsAuthenticated, IsStaffUser, IsManager. A caller who does not
 * pass all three learns nothing, not even which paths exist.
 */
import type { Millrace } from "millrace";
import { Refusal } from "./api-answers.ts";
import { rowsOf } from "./database.ts";
import type { Practice } from "./practice.ts";

export interface FirmUser {
  readonly firm: number;
  readonly name: string;
  readonly isStaff: boolean;
  readonly role: "member" | "manager" | "partner";
}

/** Manager and above. */
const MANAGERS: readonly FirmUser["role"][] = ["manager", "partner"];

export async function passGates(
  request: Request,
  { mill, practice }: { readonly mill: Millrace; readonly practice: Practice },
): Promise<FirmUser> {
  const user = await authenticated(request, mill, practice);
  if (user === null) throw new Refusal(401, "a valid bearer token is needed");
  if (!user.isStaff) throw new Refusal(403, "only staff may do this");
  if (!MANAGERS.includes(user.role)) throw new Refusal(403, "only managers may do this");
  return user;
}

/**
 * A token for a user. Millrace keeps its hash, its end and the firm; what the user may do is read
 * from the firm's own table at every call, so that a change counts at once.
 */
export async function issueToken(mill: Millrace, user: Pick<FirmUser, "firm" | "name">) {
  const { secret } = await mill.tokens.create({
    kind: "person",
    name: `${user.name} of firm ${user.firm}`,
    actor: user.name,
    tenant: String(user.firm),
    roles: ["viewer"],
  });
  return secret;
}

async function authenticated(
  request: Request,
  mill: Millrace,
  { db }: Practice,
): Promise<FirmUser | null> {
  const [, secret] = /^Bearer (\S+)$/i.exec(request.headers.get("authorization") ?? "") ?? [];
  if (secret === undefined) return null;
  const token = await mill.tokens.verify(secret);
  if (token?.kind !== "person" || token.tenant === null) return null;
  const [user] = rowsOf<{ is_staff: number; role: FirmUser["role"] }>(
    db,
    "SELECT is_staff, role FROM firm_user WHERE firm_id = ? AND name = ?",
    Number(token.tenant),
    token.actor,
  );
  if (user === undefined) return null;
  const { is_staff: isStaff, role } = user;
  return { firm: Number(token.tenant), name: token.actor, isStaff: isStaff === 1, role };
}
