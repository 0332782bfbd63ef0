/**
 * settle: the one door out of `running`. Overlapping calls share a batch. Plain successes, which
 * are most, take one statement; whatever else becomes of a run takes a transaction.
 */
import type { Settlement } from "../../../core/outcome.ts";
import { outcomeCodec, stateCodec } from "../../shared/codes.ts";
import { refusalBy } from "../../shared/refused-child.ts";
import type { Lease, NewJob, SettleAnswer, SettleItem } from "../../types/jobs-and-runs.ts";
import { bisect, LOCK_MS, untilFree } from "../batching/fallback.ts";
import { Batcher } from "../batching/batcher.ts";
import { endRuns } from "./attempts.ts";
import { enqueueChildren } from "../jobs/enqueue.ts";
import { failureOf } from "../database/errors.ts";
import { fileJobs, type Filed } from "../jobs/job-rows.ts";
import { holdLeases, lockLeases, proofOf, takeRun } from "./lease-proof.ts";
import { keepNotes, notesBytes } from "./record-notes.ts";
import { keptBy } from "../database/session-state.ts";
import { repeating } from "../database/retry.ts";
import type { Session, SessionTransaction } from "../database/session.ts";
import type { Bound, Sql } from "../database/statements.ts";
import { list, texts } from "../database/values.ts";

/** What fills a batch. */
const BATCH_ITEMS_MAX = 1_000;
const BATCH_BYTES_MAX = 4_000_000;
/** What an item weighs besides its result. */
const ITEM_BYTES = 100;

/** Applies settlements whose lease still stands; the others are `stale` and change nothing. */
export async function settle(
  session: Session,
  items: readonly SettleItem[],
): Promise<readonly SettleAnswer[]> {
  return settlerOf(session).add(items);
}

/**
 * One batch is on its way at a time: of two that end the last runs of one lease at the same moment,
 * none would close it.
 */
const settlerOf = keptBy(
  (session) =>
    new Batcher<SettleItem, SettleAnswer>({
      flightsMax: 1,
      crowd: 0,
      itemsMax: BATCH_ITEMS_MAX,
      weightMax: BATCH_BYTES_MAX,
      weigh: bytesOf,
      flush: (items) => flush(session, items),
    }),
);

function bytesOf({ settlement, note }: SettleItem): number {
  const result = isSuccess(settlement) ? (settlement.result?.length ?? 0) : 0;
  return ITEM_BYTES + result + (note === undefined ? 0 : notesBytes(note));
}

function isSuccess(settlement: Settlement): settlement is Settlement & { result: string | null } {
  return settlement.to === "completed" || settlement.to === "completed_with_errors";
}

/**
 * If a lock is not to be had, such as that of a key which a child wants, each item goes by itself,
 * so that only those wait who must.
 */
async function flush(
  session: Session,
  items: readonly SettleItem[],
): Promise<readonly (SettleAnswer | Promise<SettleAnswer>)[]> {
  try {
    return await settleTogether(session, items);
  } catch (error) {
    if (failureOf(error) !== "locked") throw error;
  }
  let last: Promise<unknown> = Promise.resolve();
  return items.map((item) => {
    const answer = last.then(() => settleAlone(session, item));
    last = answer.catch(() => {});
    return answer;
  });
}

async function settleAlone(session: Session, item: SettleItem): Promise<SettleAnswer> {
  const [answer] = await untilFree(session, () => settleTogether(session, [item]));
  return answer ?? "stale";
}

async function settleTogether(
  session: Session,
  items: readonly SettleItem[],
): Promise<readonly SettleAnswer[]> {
  const filed = items.some(hasChildren)
    ? await Promise.all(items.map((item) => withFiled(session, item)))
    : items.map(withoutChildren);
  return repeating(session.dice, async (isRepeat) => {
    const answers = await unlessRefused(session, filed);
    return isRepeat ? withOwn(session, items, answers) : answers;
  });
}

/** An item whose children can be enqueued without asking for names. */
interface FiledItem {
  readonly item: SettleItem;
  readonly children: readonly NewJob[];
  readonly filed: readonly (Filed | null)[];
}

async function withFiled({ names }: Session, item: SettleItem): Promise<FiledItem> {
  if (!hasChildren(item)) return withoutChildren(item);
  const { children = [] } = item;
  return { item, children, filed: await fileJobs(names, children) };
}

function hasChildren({ settlement, children = [] }: SettleItem): boolean {
  return children.length > 0 && isSuccess(settlement);
}

function withoutChildren(item: SettleItem): FiledItem {
  return { item, children: [], filed: [] };
}

/**
 * The quick way for the whole batch. Only when it is refused, because of a value or a child or
 * because a run has ended before, or when two speak of one run, each item is looked at.
 */
async function unlessRefused(
  session: Session,
  items: readonly FiledItem[],
): Promise<readonly SettleAnswer[]> {
  try {
    if (!hasEchoes(items)) return await settleQuickly(session, items);
  } catch (error) {
    if (failureOf(error) !== "refused") throw error;
  }
  return session.transaction((transaction) => settleParts(transaction, items), { lockMs: LOCK_MS });
}

/** True when two of them speak of the same job. */
function hasEchoes(items: readonly FiledItem[]): boolean {
  return new Set(items.map(({ item }) => item.key)).size < items.length;
}

async function settleQuickly(
  session: Session,
  items: readonly FiledItem[],
): Promise<readonly SettleAnswer[]> {
  if (!items.every(isDone)) {
    const mixed = await session.transaction((transaction) => settleMixed(transaction, items), {
      lockMs: LOCK_MS,
    });
    session.notifier.wake("events");
    return mixed;
  }
  const { answers, isFreed, isAwaited } = await settleDone(session.write, items);
  session.notifier.wake(isFreed ? "ready" : "events");
  if (isAwaited) session.dependencyTasks.add({ dependants: [], isAwaited });
  return answers;
}

/** A plain success, with nothing that hangs on it. */
function isDone({ item: { settlement, note }, children }: FiledItem): boolean {
  const isPlain = note === undefined && children.length === 0;
  return isPlain && isSuccess(settlement) && settlement.outcome === "succeeded";
}

/** Plain successes in one statement, the others after them. */
async function settleMixed(
  transaction: SessionTransaction,
  items: readonly FiledItem[],
): Promise<readonly SettleAnswer[]> {
  // All at once and before anything else: whoever locks leases does so in their order.
  await lockLeases(
    transaction,
    items.map(({ item }) => item),
  );
  const [done, others] = [items.filter(isDone), items.filter((item) => !isDone(item))];
  const { answers, isFreed, isAwaited } = await settleDone(transaction, done);
  if (isFreed) transaction.outbox.wake();
  if (isAwaited) transaction.outbox.leaveAwaited();
  const doneAnswers = answers.values();
  const otherAnswers = (await settleEach(transaction, others)).values();
  return items.map((item) => (isDone(item) ? doneAnswers : otherAnswers).next().value!);
}

interface Done {
  readonly answers: readonly SettleAnswer[];
  /** Exclusive names are free again. */
  readonly isFreed: boolean;
  /** Others wait for one of the jobs. */
  readonly isAwaited: boolean;
}

/** One statement for many plain successes. That of a run which has ended before makes it fail. */
async function settleDone(sql: Pick<Sql, "tuples">, items: readonly FiledItem[]): Promise<Done> {
  if (items.length === 0) return { answers: [], isFreed: false, isAwaited: false };
  const [ended] = await sql.tuples("settle_done", doneLists(items.map(({ item }) => item)));
  const [accepted, isFreed = false, isAwaited = false] = ended ?? [];
  const keys = new Set(accepted);
  const answers = items.map(({ item }) => (keys.has(item.key) ? "settled" : "stale"));
  return { answers, isFreed, isAwaited };
}

/** Lists, one element for each lease and for each item: the server reads them faster than rows. */
function doneLists(items: readonly SettleItem[]): Bound<"settle_done"> {
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
  const results = settlements.map((settled) => (isSuccess(settled) ? settled.result : null));
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

/** The first answer was lost: an end that stands under this lease is taken for its work. */
async function withOwn(
  session: Session,
  items: readonly SettleItem[],
  answers: readonly SettleAnswer[],
): Promise<SettleAnswer[]> {
  const runs = JSON.stringify(items.map(({ key, n }) => ({ key, n })));
  const rows = await session.read.all("find_fences", { runs });
  const marks = new Set(
    rows.map(({ key, n, fence, outcome }) => `${key} ${n} ${fence} ${outcome}`),
  );
  return items.map(({ lease, key, n, settlement }, index) => {
    const outcome = outcomeCodec.code[settlement.outcome];
    const mark = `${key} ${n} ${lease.number} ${outcome}`;
    // Said twice, it was accepted once.
    return answers[index] === "stale" && marks.delete(mark)
      ? "settled"
      : (answers[index] ?? "stale");
  });
}

function settleParts(
  transaction: SessionTransaction,
  items: readonly FiledItem[],
): Promise<readonly SettleAnswer[]> {
  const settlePart = (part: readonly FiledItem[]): Promise<readonly SettleAnswer[]> =>
    settleEach(transaction, part);
  return bisect(transaction, items, settlePart, (_, error) => refusalBy(error));
}

/** Each by its own lease and run; of two that speak of one run the first counts. */
async function settleEach(
  transaction: SessionTransaction,
  items: readonly FiledItem[],
): Promise<readonly SettleAnswer[]> {
  const leases = await holdLeases(
    transaction,
    items.map(({ item }) => item),
  );
  const taken = items.map(({ item }) => takeRun(leases.get(proofOf(item.lease)), item));
  const runs = taken.flatMap((run, index) => {
    const { settlement } = items[index]!.item;
    return run === null ? [] : [{ ...run, startedAt: run.started_at, settlement }];
  });
  const notes = taken.flatMap((run, index) => {
    const { note } = items[index]!.item;
    return run === null || note === undefined ? [] : [{ ...note, key: run.key, n: run.n }];
  });
  await keepNotes(transaction, notes, { relaxed: false });
  await endRuns(transaction, runs);
  const finished = [...leases.values()].filter(({ open }) => open.size === 0);
  if (finished.length > 0) {
    await transaction.run("delete_leases", { numbers: list(finished.map(({ number }) => number)) });
  }
  await enqueueChildren(
    transaction,
    items.filter((_, index) => taken[index] !== null),
  );
  return taken.map((run) => (run === null ? "stale" : "settled"));
}
