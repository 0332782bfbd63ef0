/**
 * settle: ends runs; a job leaves `running` no other way. Overlapping calls share a batch. A batch
 * of plain successes, the usual case, is one statement; any other batch is one transaction.
 */
import { isSuccess } from "../../../core/outcome.ts";
import { outcomeCodec, stateCodec } from "../../shared/codes.ts";
import { refusalBy } from "../../shared/refused-child.ts";
import type { Lease, NewJob, SettleAnswer, SettleItem } from "../../types/jobs-and-runs.ts";
import { bisect, LOCK_MS, retryWhileLocked } from "../batching/fallback.ts";
import { Batcher } from "../batching/batcher.ts";
import { endRuns } from "./attempts.ts";
import { enqueueChildren } from "../jobs/enqueue.ts";
import { failureOf } from "../database/errors.ts";
import { internJobs, type InternedJob } from "../jobs/job-rows.ts";
import { dropMissing, lockLease, narrowLeases } from "./lease.ts";
import { lockOpenLeases, lockLeases, proofOf, takeRun } from "./lease-proof.ts";
import { writeNotes, notesBytes } from "./record-notes.ts";
import type { NotificationParameters } from "../events/notify.ts";
import { repeating } from "../database/retry.ts";
import type { Session, StoreTransaction } from "../database/session.ts";
import type { Bound, Sql } from "../database/statements.ts";
import { withoutVainWaits } from "../services/vain-waits.ts";
import { list, texts } from "../database/values.ts";

/** A full batch. */
const BATCH_ITEMS_MAX = 1_000;
const BATCH_BYTES_MAX = 4_000_000;
/** Estimated bytes of an item without its result. */
const ITEM_BYTES = 100;

/** Applies settlements whose lease is valid. The others are `stale` and change nothing. */
export async function settle(
  session: Session,
  items: readonly SettleItem[],
): Promise<readonly SettleAnswer[]> {
  return session.state.settlements.add(items);
}

/**
 * One batch in flight: of two concurrent batches that end the last runs of one lease, neither would
 * delete the lease.
 */
export function settlementBatcher(session: Session): Batcher<SettleItem, SettleAnswer> {
  return new Batcher({
    concurrencyMax: 1,
    overlapItemsMin: 0,
    itemsMax: BATCH_ITEMS_MAX,
    weightMax: BATCH_BYTES_MAX,
    weigh: bytesOf,
    flush: (items) => settleBatch(session, items),
  });
}

function bytesOf({ settlement, note }: SettleItem): number {
  const result = isSuccess(settlement) ? (settlement.result?.length ?? 0) : 0;
  return ITEM_BYTES + result + (note === undefined ? 0 : notesBytes(note));
}

/**
 * Settles the whole batch. If a lock is not available, such as that of a child's key, items are
 * settled one by one, so that only the items that need the lock wait.
 */
async function settleBatch(
  session: Session,
  items: readonly SettleItem[],
): Promise<readonly (SettleAnswer | Promise<SettleAnswer>)[]> {
  try {
    return await settleWhole(session, items);
  } catch (error) {
    if (failureOf(error) !== "locked") throw error;
  }
  let last: Promise<unknown> = Promise.resolve();
  return items.map((item) => {
    const answer = last.then(() => settleSingle(session, item));
    last = answer.catch(() => {});
    return answer;
  });
}

async function settleSingle(session: Session, item: SettleItem): Promise<SettleAnswer> {
  const [answer] = await retryWhileLocked(session, () => settleWhole(session, [item]));
  return answer ?? "stale";
}

async function settleWhole(
  session: Session,
  items: readonly SettleItem[],
): Promise<readonly SettleAnswer[]> {
  const interned = items.some(hasChildren)
    ? await Promise.all(items.map((item) => internChildren(session, item)))
    : items.map(withoutChildren);
  return repeating(session.dice, async (isRepeat) => {
    const answers = await settleOrBisect(session, interned);
    if (answers.includes("missing")) await narrowMissing(session, items, answers);
    return isRepeat ? ownAsSettled(session, items, answers) : answers;
  });
}

/**
 * Removes runs whose jobs have no row from their leases, so that the leases end with their other
 * runs. A later step, because a settle holds only a share lock. If the step fails, the rescue of
 * the worker removes these runs.
 */
async function narrowMissing(
  session: Session,
  items: readonly SettleItem[],
  answers: readonly SettleAnswer[],
): Promise<void> {
  const missing = items.filter((_, index) => answers[index] === "missing");
  const keys = new Set(missing.map(({ key }) => key));
  const leases = new Map(missing.map(({ lease }) => [lease.number, lease]));
  for (const lease of leases.values()) {
    const narrow = session.transaction(async (transaction) => {
      const runs = await lockLease(transaction, lease);
      if (runs !== null) await narrowLeases(transaction, runs, keys);
    });
    await narrow.catch(() => {});
  }
}

/** An item whose children have interned names. */
interface InternedItem {
  readonly item: SettleItem;
  readonly children: readonly NewJob[];
  readonly interned: readonly (InternedJob | null)[];
}

async function internChildren({ names }: Session, item: SettleItem): Promise<InternedItem> {
  if (!hasChildren(item)) return withoutChildren(item);
  const { children = [] } = item;
  return { item, children, interned: await internJobs(names, children) };
}

function hasChildren({ settlement, children = [] }: SettleItem): boolean {
  return children.length > 0 && isSuccess(settlement);
}

function withoutChildren(item: SettleItem): InternedItem {
  return { item, children: [], interned: [] };
}

/**
 * Settles the whole batch at once. The batch is bisected when the database refuses it, because of a
 * value, a child or a run that has ended before, and when two items name the same job.
 */
async function settleOrBisect(
  session: Session,
  items: readonly InternedItem[],
): Promise<readonly SettleAnswer[]> {
  try {
    if (!hasDuplicates(items)) return await settlePlainOrMixed(session, items);
  } catch (error) {
    if (failureOf(error) !== "refused") throw error;
  }
  return session.transaction(
    async (transaction) => settleBisecting(transaction, await withoutVainWaits(transaction, items)),
    { lockMs: LOCK_MS },
  );
}

/** True when two items name the same job. */
function hasDuplicates(items: readonly InternedItem[]): boolean {
  return new Set(items.map(({ item }) => item.key)).size < items.length;
}

async function settlePlainOrMixed(
  session: Session,
  items: readonly InternedItem[],
): Promise<readonly SettleAnswer[]> {
  if (!items.every(isPlain)) {
    const answers = await session.transaction((transaction) => settleMixed(transaction, items), {
      lockMs: LOCK_MS,
    });
    session.notifier.wake("final");
    return answers;
  }
  // A notification inside the statement arrives sooner than one sent after the commit.
  const notification = items.length === 1 ? session.notifier.forStatement("final") : null;
  const { answers, isFreed, isAwaited, at } = await settlePlain(
    session.write,
    items,
    notification?.parameters,
  );
  const { ownEvents } = session.state;
  if (ownEvents.isWanted) {
    const settled = items.filter((_, index) => answers[index] === "settled");
    ownEvents.ended(
      settled.map(({ item }) => item),
      at,
    );
  }
  if (notification === null) session.notifier.wake("final");
  else notification.committed();
  if (isFreed) session.wakeForReturned("ready");
  if (isAwaited) session.dependencyTasks.add({ dependants: [], isAwaited });
  return answers;
}

/** A success without notes and children. */
function isPlain({ item: { settlement, note }, children }: InternedItem): boolean {
  const isBare = note === undefined && children.length === 0;
  return isBare && isSuccess(settlement) && settlement.outcome === "succeeded";
}

/** Settles plain successes in one statement, and the others after them. */
async function settleMixed(
  transaction: StoreTransaction,
  given: readonly InternedItem[],
): Promise<readonly SettleAnswer[]> {
  const items = await withoutVainWaits(transaction, given);
  // All leases first: every transaction locks leases in the order of their numbers.
  await lockLeases(
    transaction,
    items.map(({ item }) => item),
  );
  const [plain, others] = [items.filter(isPlain), items.filter((item) => !isPlain(item))];
  const { answers, isFreed, isAwaited } = await settlePlain(transaction, plain);
  if (isFreed) transaction.outbox.wakeForReturned();
  if (isAwaited) transaction.outbox.addAwaited();
  const plainAnswers = answers.values();
  const otherAnswers = (await settleEach(transaction, others)).values();
  return items.map((item) => (isPlain(item) ? plainAnswers : otherAnswers).next().value!);
}

interface PlainAnswers {
  readonly answers: readonly SettleAnswer[];
  /** Locks were released. */
  readonly isFreed: boolean;
  /** Other jobs depend on one of the jobs. */
  readonly isAwaited: boolean;
  /** The time of the ends. */
  readonly at: number;
}

/** One statement for plain successes. It fails if one of the runs has ended before. */
async function settlePlain(
  sql: Pick<Sql, "tuples">,
  items: readonly InternedItem[],
  notification?: NotificationParameters,
): Promise<PlainAnswers> {
  if (items.length === 0) return { answers: [], isFreed: false, isAwaited: false, at: 0 };
  const { channel = null, payload: word = null } = notification ?? {};
  const lists = plainParameters(items.map(({ item }) => item));
  const [row] = await sql.tuples("settle_done", { ...lists, channel, word });
  const [accepted, isFreed = false, isAwaited = false, missing, at = 0] = row ?? [];
  const [keys, gone] = [new Set(accepted), new Set(missing)];
  const answers = items.map(({ item: { key } }) => {
    if (keys.has(key)) return "settled";
    return gone.has(key) ? "missing" : "stale";
  });
  return { answers, isFreed, isAwaited, at };
}

/** Lists with one element per lease or per item: the server reads them faster than rows. */
function plainParameters(
  items: readonly SettleItem[],
): Omit<Bound<"settle_done">, "channel" | "word"> {
  const proofs = new Map<string, number>();
  const leases: Lease[] = [];
  const places = items.map(({ lease }) => {
    const proof = proofOf(lease);
    const known = proofs.get(proof);
    if (known !== undefined) return known;
    proofs.set(proof, leases.push(lease));
    return leases.length;
  });
  const settlements = items.map(({ settlement }) => settlement);
  const results = settlements.map((each) => (isSuccess(each) ? each.result : null));
  return {
    leases: list(leases.map(({ number }) => number)),
    secrets: texts(leases.map(({ secret }) => secret)),
    places: list(places),
    keys: list(items.map(({ key }) => key)),
    ns: list(items.map(({ n }) => n)),
    tries: list(settlements.map(({ tries }) => tries)),
    crashes: list(settlements.map(({ crashes }) => crashes)),
    states: list(settlements.map(({ to }) => stateCodec.code[to])),
    results: results.every((result) => result === null) ? null : texts(results),
  };
}

/** After a lost answer, an end under this lease was written by the first try. */
async function ownAsSettled(
  session: Session,
  items: readonly SettleItem[],
  answers: readonly SettleAnswer[],
): Promise<SettleAnswer[]> {
  const runs = JSON.stringify(items.map(({ key, n }) => ({ key, n })));
  const rows = await session.read.all("find_fences", { runs });
  const ends = new Set(rows.map(({ key, n, fence, outcome }) => `${key} ${n} ${fence} ${outcome}`));
  return items.map(({ lease, key, n, settlement }, index) => {
    const outcome = outcomeCodec.code[settlement.outcome];
    const end = `${key} ${n} ${lease.number} ${outcome}`;
    // Of two equal items only the first is settled.
    return answers[index] === "stale" && ends.delete(end) ? "settled" : (answers[index] ?? "stale");
  });
}

function settleBisecting(
  transaction: StoreTransaction,
  items: readonly InternedItem[],
): Promise<readonly SettleAnswer[]> {
  const settlePart = (part: readonly InternedItem[]): Promise<readonly SettleAnswer[]> =>
    settleEach(transaction, part);
  return bisect(transaction, items, settlePart, (_, error) => refusalBy(error));
}

/** Checks lease and run of each item. Of two items for one run the first is applied. */
async function settleEach(
  transaction: StoreTransaction,
  items: readonly InternedItem[],
): Promise<readonly SettleAnswer[]> {
  const leases = await lockOpenLeases(
    transaction,
    items.map(({ item }) => item),
  );
  const proven = items.map(({ item }) => takeRun(leases.get(proofOf(item.lease)), item));
  await dropMissing(
    transaction,
    proven.flatMap((run) => (run?.missing === true ? [run.key] : [])),
  );
  const taken = proven.map((run) => (run?.missing === true ? null : run));
  const runs = taken.flatMap((run, index) => {
    const { settlement } = items[index]!.item;
    return run === null ? [] : [{ ...run, startedAt: run.started_at, settlement }];
  });
  const notes = taken.flatMap((run, index) => {
    const { note } = items[index]!.item;
    return run === null || note === undefined ? [] : [{ ...note, key: run.key, n: run.n }];
  });
  await writeNotes(transaction, notes, { relaxed: false });
  await endRuns(transaction, runs);
  const finished = [...leases.values()].filter(({ open }) => open.size === 0);
  if (finished.length > 0) {
    await transaction.run("delete_leases", { numbers: list(finished.map(({ number }) => number)) });
  }
  await enqueueChildren(
    transaction,
    items.filter((_, index) => taken[index] !== null),
  );
  return proven.map((run) => {
    if (run === null) return "stale";
    return run.missing ? "missing" : "settled";
  });
}
