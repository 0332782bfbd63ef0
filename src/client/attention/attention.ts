/** `mill.attention`. */
import type { Attention } from "../../api/control/attention.ts";
import { attentionOf, neededFacts } from "../../core/attention/attention.ts";
import type { FactName, Facts } from "../../core/attention/facts.ts";
import { within, type Clock } from "../../core/clock.ts";
import { MillraceError } from "../../core/errors.ts";
import { Semaphore } from "../../lib/semaphore.ts";
import type { JobStore } from "../../store/store.ts";
import { READS, type ReadFact } from "./reads.ts";

/** How long one read may take, and how many reads are under way: others use the store as well. */
const READ_MS_MAX = 5_000;
const READS_AT_ONCE = 3;

interface AttentionParts {
  readonly store: JobStore;
  readonly clock: Clock;
  /** Null: all tenants. Else the store is limited to the tenant. */
  readonly tenant: string | null;
}

/** A fact that cannot be read is missing in the answer, which says so. */
export async function readAttention(parts: AttentionParts): Promise<Attention> {
  const now = parts.clock.now();
  const isOneTenant = parts.tenant !== null;
  const turns = new Semaphore(READS_AT_ONCE);
  const names = neededFacts({ isOneTenant });
  const answers = await Promise.all(
    names.map((name) => turns.take(() => inTime(parts, name, now))),
  );
  const read = new Map(names.map((name, index) => [name, answers[index] ?? null]));
  const facts: Facts = { ...NO_FACTS, ...factsIn(read) };
  const those = (is: (answer: ReadFact | null) => boolean): ReadonlySet<FactName> =>
    new Set(names.filter((name) => is(read.get(name) ?? null)));
  return {
    checkedAt: new Date(now),
    ...attentionOf(facts, {
      now,
      isOneTenant,
      unread: those((answer) => answer === null),
      partial: those((answer) => answer?.isPartial === true),
    }),
  };
}

const NO_FACTS: Facts = {
  breakers: [],
  causes: [],
  groups: [],
  workers: null,
  runs: [],
  schedules: [],
  pauses: [],
  intakes: [],
  letters: [],
  operations: [],
};

function factsIn(read: ReadonlyMap<FactName, ReadFact | null>): Partial<Facts> {
  const known = [...read].flatMap(([name, answer]) =>
    answer === null ? [] : [[name, answer.facts] as const],
  );
  return Object.fromEntries(known);
}

/** Null: the store fails, or does not answer in time. */
async function inTime(
  { store, clock, tenant }: AttentionParts,
  name: FactName,
  now: number,
): Promise<ReadFact | null> {
  let answer: ReadFact | null = null;
  try {
    const read = async (): Promise<void> => {
      answer = await READS[name]({ store, now, tenant });
    };
    await within(clock, READ_MS_MAX, read());
    return answer;
  } catch (error) {
    if (error instanceof MillraceError && error.code === "STORE_CLOSED") throw error;
    return null;
  }
}
