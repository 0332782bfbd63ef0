/** The closed gates that hold back due jobs which `hold` has not moved yet. */
import { GATE_INSTALLATION, stateCodec } from "./codes.ts";
import type { StoredJob } from "./decode-jobs.ts";

/** A name that a closed gate holds back; with a tenant, only for the jobs of this tenant. */
interface ClosedTarget {
  readonly name: number;
  readonly tenant: number | null;
  readonly gate: number;
}

type Row = Pick<StoredJob, "state" | "gate" | "type" | "lane" | "tenant">;

/** Whether closed gates have to be read for these rows: one of them is due and not moved. */
export function needsGates(rows: readonly Row[]): boolean {
  return rows.some(isReady);
}

/** The rows, with the gate of each due job that stands before a closed one. */
export function behindGates<Job extends Row>(
  rows: readonly Job[],
  closed: readonly ClosedTarget[],
): readonly Job[] {
  if (closed.length === 0) return rows;
  return rows.map((row) => (isReady(row) ? { ...row, gate: gateOf(row, closed) } : row));
}

function isReady({ state, gate }: Row): boolean {
  return state === stateCodec.code.queued && gate === null;
}

/** The gate behind which `hold` moves the job; that of the installation if there is no other. */
function gateOf({ type, lane, tenant }: Row, closed: readonly ClosedTarget[]): number | null {
  const gates = closed
    .filter((target) => [type, lane, tenant, GATE_INSTALLATION].includes(target.name))
    .filter((target) => target.tenant === null || target.tenant === tenant)
    .map(({ gate }) => gate);
  const [own] = gates.filter((gate) => gate > 0).toSorted((left, right) => left - right);
  return own ?? gates[0] ?? null;
}
