/** countRunning: the jobs of a target that workers hold. */
import { idBytes, idFromBytes } from "../../../core/ids.ts";
import { GATE_INSTALLATION } from "../../shared/codes.ts";
import { NONE_RUNNING, RUNNING_IDS_MAX, RUNNING_ROWS_MAX } from "../../shared/counts.ts";
import { bounded } from "../../shared/limits.ts";
import type { RunningJobCount, RunTarget } from "../../types/records.ts";
import type { Session } from "../database/session.ts";
import { findGate } from "../queue/gates.ts";

/** No claim is under way while this transaction reads: the file has one writer. */
export function countRunning(
  session: Session,
  target: RunTarget,
  page: { readonly rows: number; readonly ids: number },
): RunningJobCount {
  const { sql } = session;
  const isWorker = target.kind === "worker";
  const worker = isWorker ? idBytes(target.name) : null;
  const gate = isWorker ? GATE_INSTALLATION : findGate(session, target);
  if (gate === undefined) return NONE_RUNNING;
  const rows = bounded(page.rows, RUNNING_ROWS_MAX);
  const limit = bounded(page.ids, RUNNING_IDS_MAX);
  const found = sql.get("count_running", { worker, gate, rows: rows + 1 })?.count ?? 0;
  const ids = found === 0 || limit === 0 ? [] : sql.all("ids_of_running", { worker, gate, limit });
  return {
    jobs: Math.min(found, rows),
    isExact: found <= rows,
    ids: ids.map(({ id }) => idFromBytes(id)),
    claims: [],
  };
}
