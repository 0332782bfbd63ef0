/** countRunning: the jobs of a target that workers hold, and the claims under way. */
import { GATE_INSTALLATION } from "../../shared/codes.ts";
import { NONE_RUNNING, RUNNING_IDS_MAX, RUNNING_ROWS_MAX } from "../../shared/counts.ts";
import { bounded } from "../../shared/limits.ts";
import type { RunningJobCount, RunTarget } from "../../types/records.ts";
import type { Session } from "../database/session.ts";
import { texts, uuidOf } from "../database/values.ts";
import { findGate } from "../queue/gates.ts";

/**
 * The claims are read first. A claim that has ended by then has committed its lease, which the
 * statement that counts sees, because its snapshot is newer.
 */
export async function countRunning(
  session: Session,
  target: RunTarget,
  page: { readonly rows: number; readonly ids: number; readonly claims?: readonly string[] },
): Promise<RunningJobCount> {
  const { read } = session;
  const isWorker = target.kind === "worker";
  const worker = isWorker ? uuidOf(target.name) : null;
  const gate = isWorker ? GATE_INSTALLATION : await findGate(session, target);
  const known = page.claims === undefined ? null : texts(page.claims);
  const under = known === "{}" ? [] : await read.all("claims_under_way", { claims: known });
  const claims = under.map(({ name }) => name);
  if (gate === undefined) return { ...NONE_RUNNING, claims };
  const rows = bounded(page.rows, RUNNING_ROWS_MAX);
  const limit = bounded(page.ids, RUNNING_IDS_MAX);
  const found = (await read.get("count_running", { worker, gate, rows: rows + 1 }))?.count ?? 0;
  const isIdle = found === 0 || limit === 0;
  const ids = isIdle ? [] : await read.all("ids_of_running", { worker, gate, limit });
  return {
    jobs: Math.min(found, rows),
    isExact: found <= rows,
    ids: ids.map(({ id }) => id),
    claims,
  };
}
