/** Who acts, and why, as callers say it and as the store takes it. */
import type { ActedBy } from "../api/control/audit.ts";
import { anObject, type Rule } from "../api/rules.ts";
import type { Act } from "../store/types/audit.ts";
import { anyRemark, insistOn } from "./check-text.ts";

/** The rules of {@link ActedBy}, for options that have more. */
export const ACT_FIELDS: Readonly<Record<"actor" | "reason", Rule>> = {
  actor: anyRemark,
  reason: anyRemark,
};

const AN_ACT = anObject(
  { required: {}, optional: ACT_FIELDS },
  'an object such as { actor: "ada", reason: "asked by support" }',
);

/** Throws OPTION_INVALID with the verb. */
export function actOf(verb: string, by: ActedBy = {}): Act {
  insistOn(verb, AN_ACT, by, "");
  return toAct(by);
}

/** The same for options that were checked. */
export function toAct({ actor, reason }: ActedBy): Act {
  return { by: presentText(actor), reason: presentText(reason) };
}

function presentText(text: string | undefined): string | null {
  return text === undefined || text === "" ? null : text;
}
