/** hurry and intervene: an operator moves a job. */
import { idBytes } from "../../../core/ids.ts";
import { isFinal, type JobId, type State } from "../../../core/job.ts";
import type { Settlement } from "../../../core/outcome.ts";
import { stateCodec } from "../../shared/codes.ts";
import { hurried, intervened } from "../../shared/audit/drafts.ts";
import { startOf } from "../../shared/run-end.ts";
import { NO_ACT, type Act } from "../../types/audit.ts";
import type { InterveneFacts, JobKey } from "../../types/jobs-and-runs.ts";
import type { InterveneAnswer } from "../../types/records.ts";
import { writeAudits } from "../audit/write.ts";
import { setDue } from "../queue/dependencies.ts";
import { closeIfDone, factsOf, openRuns, withFacts, type HeldRun } from "../runs/lease.ts";
import type { LeaseRow } from "../database/queries.gen.ts";
import type { Session } from "../database/session.ts";
import { putWaiting, takeWaiting } from "../queue/places.ts";
import { endRuns } from "../runs/settle.ts";

export function hurry(
  session: Session,
  id: JobId,
  act: Act = NO_ACT,
): InterveneAnswer | { readonly status: "running" } {
  const { sql, clock } = session;
  const row = sql.get("job_by_id", { id: idBytes(id) });
  if (row === undefined) return { status: "unknown" };
  const state = stateCodec.word(row.state);
  if (isFinal(state)) return { status: "final", state };
  if (state === "running") return { status: "running" };

  const now = clock.now();
  const done = (after: State): InterveneAnswer => {
    writeAudits(session, [hurried({ id, tenant: row.tenant }, act, after)]);
    return { status: "done", state: after };
  };
  if ((row.next_run_at ?? 0) > now && setDue(session, row.key, now)) return done(state);
  const scheduled = sql.get("take_scheduled", { key: row.key });
  if (scheduled === undefined) return { status: "done", state };
  return done(putWaiting(session, scheduled, now, now));
}

export function intervene(
  session: Session,
  id: JobId,
  decide: (job: InterveneFacts) => Settlement,
  act: Act = NO_ACT,
): InterveneAnswer {
  const { sql } = session;
  const row = sql.get("job_by_id", { id: idBytes(id) });
  if (row === undefined) return { status: "unknown" };
  const state = stateCodec.word(row.state);
  if (isFinal(state)) return { status: "final", state };

  const found =
    state === "running" ? findRunning(session, row.key) : takeWaitingRun(session, row.key);
  endRuns(
    session,
    withFacts(session, [found.run]).map((job) => {
      const { key, n, rank } = job;
      const isHeld = found.lease !== null && lives(session, found.lease);
      const hasStarted = job.startedAt !== null;
      const settlement = decide({ ...factsOf(session, job), isHeld, hasStarted });
      const claimedAt = found.lease?.claimed_at ?? null;
      const startedAt = startOf(settlement, { startedAt: job.startedAt, claimedAt });
      return { lease: found.lease, key, n, rank, startedAt, settlement };
    }),
  );
  if (found.lease !== null) letGo(session, found.run, found.lease);

  const now = sql.get("job_by_key", { key: row.key });
  if (now === undefined) throw new Error(`job ${row.key} was deleted while an operator moved it`);
  const after = stateCodec.word(now.state);
  const job = { id, tenant: row.tenant };
  writeAudits(session, [intervened(job, act, { before: state, after })]);
  return { status: "done", state: after };
}

/** A run or a waiting job, and the lease that holds it, if any. */
interface FoundRun {
  readonly lease: LeaseRow | null;
  readonly run: HeldRun;
}

/** Removes a waiting job from its place. */
function takeWaitingRun(session: Session, key: JobKey): FoundRun {
  const run = takeWaiting(session, key);
  if (run === undefined) throw new Error(`job ${key} waits but is in no place`);
  return { lease: null, run: { ...run, startedAt: null } };
}

/** The run and its lease. The ledger row makes later writes under this lease stale. */
function findRunning(session: Session, key: JobKey): FoundRun {
  const lease = session.sql.get("lease_of_job", { key });
  const runs = lease === undefined ? [] : openRuns(session, lease);
  const run = runs.find((held) => held.key === key);
  return lease === undefined || run === undefined ? withoutLease(session, key) : { lease, run };
}

function lives({ sql, clock }: Session, { worker }: LeaseRow): boolean {
  return sql.get("worker_lives", { id: worker, now: clock.now() })?.lives === 1;
}

/** A running job without a lease, in a damaged file. It counts as started. */
function withoutLease({ sql, clock }: Session, key: JobKey): FoundRun {
  const [[, n] = [key, 0]] = sql.tuples("last_runs", { keys: JSON.stringify([key]) });
  const now = clock.now();
  return { lease: null, run: { key, n: n + 1, rank: now * 1000, startedAt: now } };
}

/** Tells the worker that its run was ended, started or not, and deletes an empty lease. */
function letGo(session: Session, { key, n }: HeldRun, lease: LeaseRow): void {
  session.sql.run("insert_ended_runs", {
    worker: lease.worker,
    runs: JSON.stringify([{ key, n }]),
  });
  closeIfDone(session, lease);
}
