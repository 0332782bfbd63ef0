/** prune: what has outlived its retention goes, oldest first, in bounded batches. */
import { STATES, isFinal } from "../../core/job.ts";
import { stateCodec } from "../codes.ts";
import type { Pruned, Retention } from "../store.ts";
import { numberEvents } from "./feed.ts";
import { repeating } from "./retry.ts";
import { bounded } from "../limits.ts";
import type { Session } from "./session.ts";

/** Rows of each kind that one statement removes. */
const PRUNE_MAX = 5_000;
/** Longer than anything is kept: 100 years. */
const AGE_MS_MAX = 3_155_760_000_000;

export async function prune(
  session: Session,
  retention: Retention,
  wanted: number,
): Promise<Pruned> {
  const limit = bounded(wanted, PRUNE_MAX);
  const { write, dice, watcher } = session;
  const removed = await repeating(dice, () =>
    write.get("prune_jobs", {
      ages: agesOf(retention),
      idempotency_ms: age(retention.idempotencyMs),
      limit,
    }),
  );
  const jobs = removed?.count ?? 0;
  if (jobs > 0) watcher.wake("news");
  const idempotencyKeys = await repeating(dice, () => write.run("prune_idempotency", { limit }));
  const deadLetters = await repeating(dice, () =>
    write.run("prune_dead_letters", { age: age(retention.deadLetterMs), limit }),
  );
  // Where nobody reads the feed, its outbox would grow for ever.
  await numberEvents(session);
  const events = await repeating(dice, () =>
    write.run("prune_events", { age: age(retention.eventMs), limit }),
  );
  const more = [jobs, idempotencyKeys, deadLetters, events].includes(limit);
  return { jobs, deadLetters, idempotencyKeys, events, more };
}

function agesOf({ finishedMs }: Retention): string {
  return JSON.stringify(
    STATES.filter(isFinal).map((state) => ({
      state: stateCodec.code[state],
      ms: age(finishedMs[state]),
    })),
  );
}

function age(ms: number): number {
  return bounded(ms, AGE_MS_MAX);
}
