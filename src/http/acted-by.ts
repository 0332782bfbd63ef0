/** Who acts over HTTP, and why: the actor is that of the credential. */
import type { ActedBy } from "../api/control/audit.ts";
import type { Identity } from "./identity/identity.ts";

export function actedBy({ actor }: Identity, reason: string | undefined): ActedBy {
  return reason === undefined ? { actor } : { actor, reason };
}
