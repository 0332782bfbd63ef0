/** Whether a group of failures needs attention. */

/** How long a group without a decision is `new`. */
const NEW_MS = 86_400_000;

export type GroupStatus = "new" | "open" | "acknowledged" | "snoozed" | "returned";

export interface GroupDecision {
  readonly kind: "acknowledged" | "snoozed" | "retried" | "discarded";
  readonly at: number;
  /** The end of a snooze. */
  readonly until: number | null;
}

/**
 * The status of a group at a moment. `returned`: a failure is newer than the decision, or than the
 * end of the snooze. `open`: a decision is needed, because none was made about what is there.
 */
export function groupStatus(
  decision: GroupDecision | null,
  { firstAt, lastAt }: { readonly firstAt: number; readonly lastAt: number },
  now: number,
): GroupStatus {
  if (decision === null) return now - firstAt < NEW_MS ? "new" : "open";
  const { kind, at, until } = decision;
  if (until !== null && now < until) return "snoozed";
  if (lastAt > (until ?? at)) return "returned";
  return kind === "acknowledged" ? "acknowledged" : "open";
}
