/**
 * prune: what has outlived its retention goes, oldest first, in bounded batches.
 *
 * As long as some transaction keeps an old snapshot open, what was removed stays in the indexes as
 * dead entries, and each batch would step over all of them. So a batch begins where the one before
 * has ended. What came to lie before that, such as a late commit, is found by a look from the
 * beginning when a batch was not filled; if that takes long, it is not done often.
 */
import { STATES, isFinal } from "../../core/job.ts";
import { systemClock } from "../../lib/system.ts";
import { stateCodec } from "../codes.ts";
import type { Pruned, Retention } from "../store.ts";
import { numberEvents } from "./feed.ts";
import { repeating } from "./retry.ts";
import { bounded } from "../limits.ts";
import { keptBy } from "./kept.ts";
import type { Session } from "./session.ts";

/** Rows of each kind that one statement removes. */
const PRUNE_MAX = 5_000;
/** Units, too, but for those of the last job. */
const UNITS_MAX = 50_000;
/** A look from the beginning that takes longer may take a twentieth of the time. */
const LOOK_MS_MAX = 250;
const LOOK_REST = 20;
/** Longer than anything is kept: 100 years. */
const AGE_MS_MAX = 3_155_760_000_000;

export async function prune(
  session: Session,
  retention: Retention,
  wanted: number,
): Promise<Pruned> {
  const limit = bounded(wanted, PRUNE_MAX);
  const { write, dice, watcher } = session;
  // Before the jobs: the word that one is gone stays at least until the next call.
  const events = await pruneEvents(session, retention, limit);
  const { jobs, isCut } = await pruneJobs(session, retention, limit);
  if (jobs > 0) watcher.wake("news");
  const idempotencyKeys = await pruneIdempotency(session, limit);
  const deadLetters = await repeating(dice, () =>
    write.run("prune_dead_letters", { age: age(retention.deadLetterMs), limit }),
  );
  const more = isCut || [jobs, idempotencyKeys, deadLetters, events].includes(limit);
  return { jobs, deadLetters, idempotencyKeys, events, more };
}

/** How far the batches of one kind of things have got. */
class Progress {
  /** By the code of a state: up to which instant everything has gone, as far as is known. */
  readonly #reached = new Map<number, number>();
  /** When it may look from the beginning again, by the steady clock. */
  #lookAt = 0;

  /** Removes up to `limit` things. `batch` does it from the instants that it is given. */
  async go(limit: number, batch: Batch): Promise<number> {
    const count = await this.#take(limit, batch, this.#reached);
    const began = systemClock.monotonic();
    if (count === limit || began < this.#lookAt) return count;
    const late = await this.#take(limit - count, batch, new Map());
    const tookMs = systemClock.monotonic() - began;
    if (tookMs > LOOK_MS_MAX) this.#lookAt = began + tookMs * LOOK_REST;
    return count + late;
  }

  async #take(limit: number, batch: Batch, since: ReadonlyMap<number, number>): Promise<number> {
    const gone = await batch(limit, (state) => since.get(state) ?? 0);
    for (const { state, last } of gone) this.#reached.set(state, last);
    return gone.reduce((sum, { count }) => sum + count, 0);
  }
}

type Batch = (limit: number, since: (state: number) => number) => Promise<readonly Gone[]>;

/** How many went, and the latest of them. */
interface Gone {
  readonly state: number;
  readonly count: number;
  readonly last: number;
}

const keptFor = keptBy(() => ({ jobs: new Progress(), idempotency: new Progress() }));

async function pruneJobs(
  session: Session,
  retention: Retention,
  limit: number,
): Promise<{ readonly jobs: number; readonly isCut: boolean }> {
  const { write, dice } = session;
  let isCut = false;
  const jobs = await keptFor(session).jobs.go(limit, async (most, since) => {
    const ages = STATES.filter(isFinal).map((state) => {
      const code = stateCodec.code[state];
      return { state: code, ms: age(retention.finishedMs[state]), since: since(code) };
    });
    const gone = await repeating(dice, () =>
      write.all("prune_jobs", {
        ages: JSON.stringify(ages),
        idempotency_ms: age(retention.idempotencyMs),
        limit: most,
        units: UNITS_MAX,
      }),
    );
    isCut = gone.some(({ waiting }) => waiting > 0);
    return gone;
  });
  return { jobs, isCut };
}

/** Keys have no states: all of them go by the same one. */
async function pruneIdempotency(session: Session, limit: number): Promise<number> {
  const { write, dice } = session;
  return keptFor(session).idempotency.go(limit, async (most, since) => {
    const gone = await repeating(dice, () =>
      write.all("prune_idempotency", { since: since(0), limit: most }),
    );
    return gone.map((each) => ({ ...each, state: 0 }));
  });
}

async function pruneEvents(session: Session, retention: Retention, limit: number): Promise<number> {
  const { write, dice } = session;
  // Where nobody reads the feed, its outbox would grow for ever.
  await numberEvents(session);
  return repeating(dice, () => write.run("prune_events", { age: age(retention.eventMs), limit }));
}

function age(ms: number): number {
  return bounded(ms, AGE_MS_MAX);
}
