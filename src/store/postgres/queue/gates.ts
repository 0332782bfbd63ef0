/** promote, pause, resume, gates, hold and release: moves jobs between waiting places. */
import { writeAudits } from "../audit/write.ts";
import { NO_ACT, type Act } from "../../types/audit.ts";
import { paused, resumed } from "../../shared/audit/drafts.ts";
import { MillraceError } from "../../../core/errors.ts";
import type { JobId } from "../../../core/job.ts";
import type { CountAhead, CountBehind, Gate, GateName, Promotion } from "../../types/records.ts";
import { NONE_BEHIND, UNKNOWN_NAME } from "../../shared/counts.ts";
import { DECLARED_MS } from "../../roles/schedules.ts";
import { GATE_INSTALLATION } from "../../shared/codes.ts";
import { gateName, INSTALLATION } from "../../shared/decode-jobs.ts";
import { repeating } from "../database/retry.ts";
import { uuidOf } from "../database/values.ts";
import { bounded } from "../../shared/limits.ts";
import type { Session, StoreTransaction } from "../database/session.ts";
import { releaseKeys } from "../runs/locks.ts";
import type { Barriers, QueryRows } from "../database/queries.gen.ts";

/** Jobs of a lane that `hold` scans for each job that it may move. */
const HOLD_DEPTH_FACTOR = 20;
/** Jobs scanned on top where no gate is closed: a claim skips that many quickly. */
const KEY_DEPTH = 1_000;
/** How many jobs at the front of the queue of a limit are checked for what else blocks them. */
const QUEUE_DEPTH = 1_000;
/** Jobs moved in one statement. */
const MOVE_MAX = 1_000;
/** The longest pause: 285 years. */
const MS_MAX = 9_000_000_000_000;

export async function promote(session: Session, limit: number): Promise<Promotion> {
  const { state, write, dice, notifier } = session;
  const move = (look: boolean): Promise<QueryRows["promote_due"] | undefined> =>
    repeating(dice, () =>
      write.get("promote_due", {
        limit: bounded(limit, MOVE_MAX),
        look,
        declared_ms: DECLARED_MS,
      }),
    );
  const row = (await state.readyLook.take(() => move(true))) ?? (await move(false));
  if (row === undefined) throw new Error("promote_due returned no row");
  if (row.moved > 0) notifier.wake("work");
  const { moved, next_due_ms: nextDueMs, probe_ms: probeInMs } = row;
  const { released, blocked, slot_due: slotDue, fair } = row;
  const ready = row.ready || state.lostClaims.isWaiting;
  return { moved, nextDueMs, probeInMs, waiting: { ready, released, blocked, slotDue, fair } };
}

export async function pause(
  session: Session,
  gate: GateName,
  { reason, by, forMs }: { readonly reason: string; readonly by: string | null; forMs?: number },
): Promise<void> {
  const { kind, name: text } = gate;
  const name = kind === "installation" ? GATE_INSTALLATION : await internGate(session, kind, text);
  if (name === undefined) {
    throw new MillraceError("STORE_REFUSED", `the database refused the name of a ${kind}`);
  }
  const for_ms = forMs === undefined ? null : bounded(forMs, MS_MAX);
  await repeating(session.dice, (isRepeat) =>
    session.transaction(async (transaction) => {
      const before = await closedGate(transaction, name);
      await transaction.run("close_gate", { name, reason, by, for_ms });
      await writeAudits(transaction, [paused(gate, { by, reason }, before)], isRepeat);
    }),
  );
}

async function closedGate(
  transaction: StoreTransaction,
  name: number,
): Promise<QueryRows["closed_gates"] | undefined> {
  return (await transaction.all("closed_gates", {})).find((each) => each.name === name);
}

export async function internGate(
  { names }: Session,
  kind: Exclude<GateName["kind"], "installation">,
  text: string,
): Promise<number | undefined> {
  await names.intern([{ kind, text }]);
  return names.known(kind, text);
}

/** The id of a gate; undefined if no job or gate ever had the name. */
export async function findGate(
  { names }: Session,
  { kind, name }: GateName,
): Promise<number | undefined> {
  return kind === "installation" ? GATE_INSTALLATION : names.id(kind, name);
}

/** A repeat may find the gate open that the first try has opened. */
export async function resume(
  session: Session,
  gate: GateName,
  act: Act = NO_ACT,
): Promise<boolean> {
  const name = await findGate(session, gate);
  if (name === undefined) return false;
  let wasClosed = false;
  await repeating(session.dice, () =>
    session.transaction(async (transaction) => {
      const before = await closedGate(transaction, name);
      // Another call may have opened the gate meanwhile.
      const opened = await transaction.run("open_gate", { name });
      if (before === undefined || opened === 0) return;
      wasClosed = true;
      await writeAudits(transaction, [resumed(gate, act, before)]);
    }),
  );
  session.wakeForReturned("work");
  return wasClosed;
}

export async function countBehind(
  session: Session,
  gate: GateName,
  wanted: number,
  only?: string,
): Promise<CountBehind> {
  const { read, names } = session;
  const name = await findGate(session, gate);
  const tenant = only === undefined ? null : await names.id("tenant", only);
  if (name === undefined || tenant === undefined) return NONE_BEHIND;
  const rows = bounded(wanted, Number.MAX_SAFE_INTEGER);
  const found = await read.get("count_behind_gate", { name, rows, tenant });
  if (found === undefined) return NONE_BEHIND;
  const { jobs, shared, exact: isExact, shared_exact: isSharedExact } = found;
  return { jobs, isExact, shared, isSharedExact };
}

export async function countAhead(
  { read, names }: Session,
  id: JobId,
  wanted: number,
  only?: string,
): Promise<CountAhead | null> {
  const tenant = only === undefined ? null : ((await names.id("tenant", only)) ?? UNKNOWN_NAME);
  const rows = bounded(wanted, Number.MAX_SAFE_INTEGER);
  const found = await read.get("count_ahead", { id: uuidOf(id), rows, tenant });
  return found === undefined ? null : { jobs: found.jobs, isExact: found.exact };
}

export async function gates({ read, names }: Session): Promise<readonly Gate[]> {
  const rows = await read.all("closed_gates", {});
  await names.learn(rows.map(({ name }) => name));
  return rows.flatMap(({ name, reason, by, closed_at: closedAt, until }) => {
    const why = { reason, by, closedAt, until };
    if (name === GATE_INSTALLATION) return [{ ...INSTALLATION, ...why }];
    const gate = names.name(name);
    return gate === undefined ? [] : [{ ...gateName(gate), ...why }];
  });
}

/** Blocks due jobs whose gate is closed, whose key is locked, or of which a limit is used up. */
export async function hold(session: Session, wanted: number): Promise<number> {
  const { write, dice } = session;
  const { gates: isGated, names: areTaken, full: mayBeFull, queued } = await barriers(session);
  const limit = bounded(wanted, MOVE_MAX);
  const depth = limit * HOLD_DEPTH_FACTOR;
  const depths = { depth, key_depth: limit + KEY_DEPTH };
  const held =
    isGated || areTaken
      ? await repeating(dice, () => write.run("hold_jobs", { limit, ...depths }))
      : 0;
  if (held >= limit) return held;
  const rest = { limit: limit - held, depth };
  const moved = mayBeFull ? await repeating(dice, () => write.run("hold_limited", rest)) : 0;
  if (!queued && moved === 0) return held;
  const queue = { limit, depth: QUEUE_DEPTH };
  return held + moved + (await repeating(dice, () => write.run("rehome_limited", queue)));
}

/** Releases jobs whose gate has opened or whose concurrency key is free. */
export async function release(session: Session, wanted: number): Promise<number> {
  const { write, dice } = session;
  const found = await barriers(session);
  const limit = bounded(wanted, MOVE_MAX);
  const moved =
    found.gates || found.held
      ? await repeating(dice, () => write.run("release_jobs", { limit }))
      : 0;
  if (moved > 0) session.wakeForReturned("work");
  return moved < limit ? moved + (await releaseKeys(session, found, limit - moved)) : moved;
}

const NONE: Barriers = {
  gates: false,
  held: false,
  names: false,
  wanted: false,
  full: false,
  queued: false,
  spent: false,
};

async function barriers({ read }: Session): Promise<Barriers> {
  return (await read.get("barriers_in_use", {})) ?? NONE;
}
