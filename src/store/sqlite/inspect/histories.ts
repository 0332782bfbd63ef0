/** histories: attempts, progress, units and log lines of some jobs. */
import type { JobId } from "../../../core/job.ts";
import type { JobHistory } from "../../types/notes.ts";
import type { Session } from "../database/session.ts";
import { attempts } from "./jobs.ts";
import { logs } from "./logs.ts";
import { progress, units } from "./progress.ts";

/** Statements go to no server here, so each job has its own. */
export function histories(
  session: Session,
  ids: readonly JobId[],
  limits: { readonly units: number; readonly logs: number },
): readonly JobHistory[] {
  return ids.map((id) => ({
    attempts: attempts(session, id),
    progress: progress(session, id),
    units: units(session, id, {}, { limit: limits.units }),
    logs: logs(session, id, { limit: limits.logs }),
  }));
}
