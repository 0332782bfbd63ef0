/** The hints of explanations for the mill of a tenant. */
import type { Explanation } from "../../api/control/explanation.ts";

/** A command about more than the jobs and the pause of one tenant, or an option of a worker. */
const FOREIGN_COMMAND = /millrace (?!(?:jobs|dlq|resume --tenant) )|mill\.work\(|--lanes /;

const ASK = "Ask the operators of the installation.";

/**
 * The mill of a tenant cannot start workers, resume lanes and types, reset breakers or set limits:
 * its hints end before such a command.
 */
export function hintOfTenant(explanation: Explanation): Explanation {
  const { hint } = explanation;
  const at = hint.search(FOREIGN_COMMAND);
  if (at === -1) return explanation;
  const rest = hint.slice(0, hint.lastIndexOf(". ", at) + 1);
  return { ...explanation, hint: rest === "" ? ASK : `${rest} ${ASK}` };
}
