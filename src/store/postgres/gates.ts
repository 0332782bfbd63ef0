/** promote, pause, resume, hold and release: what lets waiting jobs through and what does not. */
import { MillraceError } from "../../core/errors.ts";
import type { Gate, GateName, Promotion } from "../store.ts";
import { gateName } from "../decoded.ts";
import { repeating } from "./retry.ts";
import { bounded } from "../limits.ts";
import type { Session } from "./session.ts";

/** How far into a lane `hold` looks for each job that it may move. */
const HOLD_DEPTH_FACTOR = 20;
/** Jobs moved in one statement. */
const MOVE_MAX = 1_000;
/** Longer than any pause: 285 years. */
const MS_MAX = 9_000_000_000_000;

export async function promote(session: Session, limit: number): Promise<Promotion> {
  const row = await repeating(session.dice, () =>
    session.write.get("promote_due", { limit: bounded(limit, MOVE_MAX) }),
  );
  if (row === undefined) throw new Error("a promotion gave no answer");
  if (row.moved > 0) session.watcher.wake("work");
  return { moved: row.moved, nextDueMs: row.next_due_ms };
}

export async function pause(
  session: Session,
  { kind, name: text }: GateName,
  { reason, by, forMs }: { readonly reason: string; readonly by: string | null; forMs?: number },
): Promise<void> {
  const { names, write, dice } = session;
  await names.intern([{ kind, text }]);
  const name = names.known(kind, text);
  if (name === undefined) {
    throw new MillraceError("STORE_REFUSED", `the database refused the name of a ${kind}`);
  }
  const for_ms = forMs === undefined ? null : bounded(forMs, MS_MAX);
  await repeating(dice, () => write.run("close_gate", { name, reason, by, for_ms }));
}

export async function resume(session: Session, { kind, name: text }: GateName): Promise<void> {
  const { names, write, dice, watcher } = session;
  const name = await names.id(kind, text);
  if (name === undefined) return;
  await repeating(dice, () => write.run("open_gate", { name }));
  watcher.wake("work");
}

export async function gates({ read, names }: Session): Promise<readonly Gate[]> {
  const rows = await read.all("closed_gates", {});
  await names.learn(rows.map(({ name }) => name));
  return rows.map(({ name, reason, by, until }) => ({
    ...gateName(names.name(name)),
    reason,
    by,
    until,
  }));
}

/** Moves due jobs behind closed gates aside. */
export async function hold({ write, dice }: Session, wanted: number): Promise<number> {
  const limit = bounded(wanted, MOVE_MAX);
  return repeating(dice, () => write.run("hold_jobs", { limit, depth: limit * HOLD_DEPTH_FACTOR }));
}

/** Brings back what waits behind gates that have opened. */
export async function release(session: Session, wanted: number): Promise<number> {
  const { write, dice, watcher } = session;
  const limit = bounded(wanted, MOVE_MAX);
  const moved = await repeating(dice, () => write.run("release_jobs", { limit }));
  if (moved > 0) watcher.wake("work");
  return moved;
}
