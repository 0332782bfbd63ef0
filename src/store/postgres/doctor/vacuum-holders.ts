/**
 * Finds what keeps deleted rows from being vacuumed: old transactions, prepared ones, and
 * replication slots. Every dead row that stays is a row that scans have to pass.
 */
import { formatDuration } from "../../../core/duration.ts";
import type { VacuumHolder } from "../database/queries.gen.ts";
import type { ServerFinding } from "./examine.ts";

/** Holders that are read. Further ones are found after these have ended. */
export const HOLDERS_MAX = 20;

export interface HolderLimits {
  /** A transaction that is open longer is reported. */
  readonly transactionMs: number;
  /** A slot that is behind by more transactions is reported: the server knows no time for it. */
  readonly slotTransactions: number;
}

const NAME = "vacuum held back";
const HARM = "rows that were deleted since then cannot be vacuumed";

export function vacuumHolders(
  holders: readonly VacuumHolder[],
  limits: HolderLimits,
): readonly ServerFinding[] {
  const hidden = holders.filter(isHidden);
  return [
    ...holders.filter((holder) => isOld(holder, limits)).map(findingOf),
    ...(hidden.length === 0 ? [] : [hiddenFinding(hidden.length)]),
  ];
}

function isOld({ kind, held_ms: heldMs, age }: VacuumHolder, limits: HolderLimits): boolean {
  if (kind === "slot") return age >= limits.slotTransactions;
  return heldMs !== null && heldMs >= limits.transactionMs;
}

/** A session of another role, whose transaction has an unknown age. */
function isHidden({ kind, held_ms: heldMs }: VacuumHolder): boolean {
  return kind === "session" && heldMs === null;
}

function findingOf(holder: VacuumHolder): ServerFinding {
  const { kind, name, owner, application, state, age } = holder;
  switch (kind) {
    case "session": {
      const who = [application, `user ${owner ?? "unknown"}`].filter((part) => part !== "");
      return {
        name: NAME,
        found: `pid ${name} (${who.join(", ")}) is ${state}, in a transaction ${sinceOf(holder)}`,
        fix: `SELECT pg_terminate_backend(${name});`,
      };
    }
    case "prepared": {
      const which = `the prepared transaction ${literal(name)} of user ${owner}`;
      const fix = `ROLLBACK PREPARED ${literal(name)};`;
      return { name: NAME, found: `${which} waits ${sinceOf(holder)}`, fix };
    }
    case "slot":
      return {
        name: NAME,
        found: `the replication slot ${name} (${state}) is ${age} transactions behind: ${HARM}`,
        fix:
          state === "active"
            ? "End the old queries of the standby, or set hot_standby_feedback = off there."
            : `SELECT pg_drop_replication_slot(${literal(name)});`,
      };
  }
}

function sinceOf({ since, held_ms: heldMs }: VacuumHolder): string {
  const seconds = Math.round((heldMs ?? 0) / 1_000);
  const at = new Date(since ?? 0).toISOString();
  return `since ${at} (${formatDuration(seconds * 1_000)}): ${HARM}`;
}

function literal(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

/** For information: others may hold back vacuum, and this role cannot tell. */
function hiddenFinding(count: number): ServerFinding {
  return {
    name: NAME,
    found:
      `not checked for ${count} sessions of other roles: this user may not see when their ` +
      "transactions began; a grant of pg_read_all_stats allows it",
    fix: null,
  };
}
