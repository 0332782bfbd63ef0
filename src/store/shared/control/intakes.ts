/** Which new jobs a closed intake refuses. Both stores ask here. */
import type { IntakeRecord, NewJob, RefusedJob } from "../../types/jobs-and-runs.ts";
import { GATE_INSTALLATION } from "../codes.ts";
import { gateName, INSTALLATION, type NameLookup } from "../decode-jobs.ts";
import type { IntakeName } from "../../types/records.ts";

/** A row of the table. */
export interface IntakeRow {
  readonly name: number;
  readonly closed_at: number;
  readonly reason: string;
  readonly by: string | null;
}

/** Closed intakes by the ids of their names. */
export type ClosedIntakes = ReadonlyMap<number, IntakeRow>;

export const ALL_OPEN: ClosedIntakes = new Map();

export function intakesByName(rows: readonly IntakeRow[]): ClosedIntakes {
  return rows.length === 0 ? ALL_OPEN : new Map(rows.map((row) => [row.name, row]));
}

/** The ids of a job's names. */
interface NameIds {
  readonly type: number;
  readonly tenant: number;
  readonly lane: number;
}

/** The ids of the intakes that these jobs pass. */
export function intakeNames(jobs: readonly NameIds[]): readonly number[] {
  const ids = jobs.flatMap(({ type, tenant, lane }) => [type, tenant, lane]);
  return [...new Set([GATE_INSTALLATION, ...ids])];
}

/**
 * The refusal of a new job; null: its intakes are open. The children of a run and the successors of
 * a job continue work that the store has accepted, so they pass.
 */
export function intakeRefusal(job: NewJob, ids: NameIds, closed: ClosedIntakes): RefusedJob | null {
  if (closed.size === 0 || job.parentId !== null || job.retryOf !== null) return null;
  const intake =
    closedIntake(closed.get(GATE_INSTALLATION), INSTALLATION) ??
    closedIntake(closed.get(ids.tenant), { kind: "tenant", name: job.tenant }) ??
    closedIntake(closed.get(ids.lane), { kind: "lane", name: job.lane }) ??
    closedIntake(closed.get(ids.type), { kind: "type", name: job.type });
  if (intake === null) return null;
  return { status: "refused", code: "INTAKE_CLOSED", holder: job.id, intake };
}

function closedIntake(
  row: IntakeRow | undefined,
  name: Pick<IntakeRecord, "kind" | "name">,
): IntakeRecord | null {
  if (row === undefined) return null;
  return { ...name, reason: row.reason, by: row.by, closedAt: row.closed_at };
}

/** The closed intakes with the names of their targets. */
export function intakeRecords(
  rows: readonly IntakeRow[],
  names: Pick<NameLookup, "name">,
): IntakeRecord[] {
  return rows.flatMap((row) => {
    const target = targetOf(row.name, names);
    return (target === null ? null : closedIntake(row, target)) ?? [];
  });
}

/** Null: the name is unknown, or names no target of an intake. */
function targetOf(id: number, names: Pick<NameLookup, "name">): IntakeName | null {
  if (id === GATE_INSTALLATION) return INSTALLATION;
  const known = names.name(id);
  if (known === undefined) return null;
  const { kind, name } = gateName(known);
  return kind === "service" ? null : { kind, name };
}
