/** claim: how a batch of due jobs comes into a worker's hands. */
import { systemClock } from "../../../lib/system.ts";
import { policyOfFlags, type NameKind } from "../../shared/codes.ts";
import { BATCH_MAX } from "../../store.ts";
import type { Claim, ClaimedJob, ClaimRequest } from "../../types/jobs-and-runs.ts";
import { returnPrefetched } from "./prefetch.ts";
import { UncertainWrite } from "../database/errors.ts";
import { LowWaterMarks, type Position, type ScanRange } from "./claim-cursor.ts";
import type { InternedName } from "../database/interned-names.ts";
import { bounded } from "../../shared/limits.ts";
import type { Session } from "../database/session.ts";
import type { Bound } from "../database/statements.ts";
import { list, uuidOf } from "../database/values.ts";
import type { ClaimTuple } from "../database/queries.gen.ts";

const SECRET_BYTES = 8;
const NO_TAGS: ClaimedJob["tags"] = Object.freeze({});

export async function claim(session: Session, request: ClaimRequest): Promise<Claim> {
  const limit = bounded(request.limit, BATCH_MAX);
  const found = await findForgotten(session, { ...request, limit });
  if (found !== null) return found;
  const wanted = await wantedBy(session, request);
  const cursor = claimCursorsOf(session).of(JSON.stringify(wanted));
  const { answer } = await cursor.scan(limit, (ranges) =>
    takeBatch(session, request, { ...wanted, limit, ranges }),
  );
  return answer;
}

function claimCursorsOf({ state, notifier, clock }: Session): LowWaterMarks {
  if (state.claimCursors !== null) return state.claimCursors;
  const cursors = new LowWaterMarks(() => (clock ?? systemClock).monotonic());
  notifier.watch((wakeUp) => cursors.hear(wakeUp));
  state.claimCursors = cursors;
  return cursors;
}

/** The lists of a lease: of every run that it names, in its order. */
type ClaimLists = readonly [
  keys: readonly number[],
  ranks: readonly number[],
  ns: readonly number[],
  tries: readonly number[],
  crashes: readonly number[],
];

/** What a claim looks for, as the statement takes it. */
interface Wanted {
  /** Lists of ids; null for all. */
  readonly lanes: string | null;
  readonly types: string | null;
  readonly tenants: string | null;
  readonly prefetch: boolean;
}

async function wantedBy(session: Session, request: ClaimRequest): Promise<Wanted> {
  const { types, tenants, prefetch } = request;
  const lanes = request.lanes === "any" ? undefined : request.lanes;
  // Interned, though a name never met has no jobs: once it is known, no claim asks for it again.
  await session.names.intern([
    ...namesOf("lane", lanes),
    ...namesOf("type", types),
    ...namesOf("tenant", tenants),
  ]);
  return {
    lanes: idList(session, "lane", lanes),
    types: idList(session, "type", types),
    tenants: idList(session, "tenant", tenants),
    prefetch,
  };
}

function namesOf(kind: NameKind, texts: readonly string[] = []): InternedName[] {
  return texts.map((text) => ({ kind, text }));
}

function idList(
  { names }: Session,
  kind: NameKind,
  texts: readonly string[] | undefined,
): string | null {
  if (texts === undefined) return null;
  return list(texts.flatMap((text) => names.known(kind, text) ?? []));
}

/** What one statement is asked for. */
interface Asked extends Wanted {
  readonly limit: number;
  readonly ranges: readonly ScanRange[] | null;
}

/** An answer, and where its jobs lay. */
interface Batch {
  readonly answer: Claim;
  readonly places: readonly Position[];
}

async function takeBatch(
  session: Session,
  request: ClaimRequest,
  { ranges, ...wanted }: Asked,
): Promise<Batch> {
  const secret = Buffer.from(session.dice.bytes(SECRET_BYTES)).toString("hex");
  const worker = uuidOf(request.worker);
  const parameters = { ...wanted, ...marksOf(ranges), worker, secret };
  try {
    const rows = await session.write.tuples("claim", parameters);
    const batch = await batchOf(session, rows, secret);
    if (batch.places.length > 0 && !wanted.prefetch) session.notifier.wake("events");
    return batch;
  } catch (error) {
    if (error instanceof UncertainWrite) session.state.lostClaims.add(request, secret);
    throw error;
  }
}

type ClaimCursor = Pick<
  Bound<"claim">,
  "mark_lanes" | "mark_priorities" | "mark_ranks" | "mark_keys" | "mark_ends"
>;

/** One list for each column of the ranges. */
function marksOf(ranges: readonly ScanRange[] | null): ClaimCursor {
  const column = (name: keyof ScanRange): string | null =>
    ranges === null ? null : list(ranges.map((range) => range[name]));
  return {
    mark_lanes: column("lane"),
    mark_priorities: column("priority"),
    mark_ranks: column("rank"),
    mark_keys: column("key"),
    mark_ends: column("end"),
  };
}

/**
 * What a claim of the worker took whose answer was lost. Jobs that have begun are answered to the
 * next claims for the same slots, to none more than it asks for. Jobs that lie in a prefetch have
 * not begun, so they go back: whoever asks now may mean to run what he gets.
 */
async function findForgotten(session: Session, request: ClaimRequest): Promise<Claim | null> {
  const { lostClaims } = session.state;
  for (const lostClaim of lostClaims.due(request)) {
    const { secret, delivered } = lostClaim;
    const worker = uuidOf(request.worker);
    const rows = await session.read.tuples("claimed_by", { worker, secret });
    const { answer } = await batchOf(session, rows, secret);
    if (answer.lease === null) {
      lostClaims.miss(lostClaim);
      continue;
    }
    const undelivered = answer.jobs.filter(({ key }) => !delivered.has(key));
    if (lostClaim.request.prefetch) {
      const keys = undelivered.map(({ key }) => key);
      await returnPrefetched(session, answer.lease, keys);
      lostClaims.settle(lostClaim);
      continue;
    }
    const jobs = undelivered.slice(0, request.limit);
    for (const { key } of jobs) delivered.add(key);
    if (jobs.length === undelivered.length) lostClaims.settle(lostClaim);
    if (jobs.length > 0) return { ...answer, jobs };
  }
  return null;
}

async function batchOf(
  session: Session,
  answer: readonly ClaimTuple[],
  secret: string,
): Promise<Batch> {
  const [first] = answer;
  const rows = answer.slice(1);
  const [lost = false, number = null] = first ?? [];
  if (first === undefined || number === null) {
    return { answer: { lease: null, jobs: [], lost }, places: [] };
  }
  const byKey = new Map<number | null, ClaimTuple>();
  for (const row of rows) byKey.set(row[1], row);
  const kinds = await kindsOf(session, rows);
  const [keys, ranks, ns, tries, crashes]: ClaimLists = JSON.parse(first[5] ?? "[]");
  const jobs: ClaimedJob[] = [];
  const places: Position[] = [];
  for (let index = 0; index < keys.length; index += 1) {
    const key = keys[index]!;
    const row = byKey.get(key);
    const kind = kinds.get(row?.[4] ?? "");
    // A place without a job is gone now, and `doctor` would have told of it.
    if (row === undefined || kind === undefined) continue;
    const rank = ranks[index]!;
    const run = { n: ns[index]!, tries: tries[index]!, crashes: crashes[index]! };
    jobs.push(claimedJob(row, kind, run, Math.floor(rank / 1000)));
    places.push({ lane: kind.laneNumber, priority: kind.priority, rank, key });
  }
  const lease = jobs.length === 0 ? null : { number, secret };
  return { answer: { lease, jobs, lost: false }, places };
}

/** What many jobs have in common. */
interface Kind {
  readonly type: string;
  readonly tenant: string;
  readonly lane: string;
  readonly laneNumber: number;
  readonly priority: number;
  readonly maxAttempts: number;
  readonly timeoutMs: number | null;
  readonly onOrphan: ClaimedJob["onOrphan"];
  readonly retryOwner: ClaimedJob["retryOwner"];
}

/**
 * The kinds of these jobs by their texts. The jobs are taken: when their names cannot be learnt
 * now, they are asked for again.
 */
async function kindsOf(
  { names }: Session,
  rows: readonly ClaimTuple[],
): Promise<ReadonlyMap<string, Kind>> {
  const texts = [...new Set(rows.map((row) => row[4]))];
  const numbers = texts.map((text) => text.split(" ").map(Number));
  try {
    await names.learn(numbers.flatMap((each) => each.slice(0, 3)));
  } catch (error) {
    throw new UncertainWrite(error);
  }
  return new Map(texts.map((text, index) => [text, kindOf(names, numbers[index]!)]));
}

function kindOf(names: Session["names"], numbers: readonly number[]): Kind {
  const [type = 0, tenant = 0, lane = 0, priority = 0, maxAttempts = 0, flags = 0] = numbers;
  return {
    type: names.text(type),
    tenant: names.text(tenant),
    lane: names.text(lane),
    laneNumber: lane,
    priority,
    maxAttempts,
    timeoutMs: numbers[6] ?? null,
    ...policyOfFlags(flags),
  };
}

function claimedJob(
  row: ClaimTuple,
  kind: Kind,
  { n, tries, crashes }: Pick<ClaimedJob, "n" | "tries" | "crashes">,
  runAt: number,
): ClaimedJob {
  const [key, id] = [row[1] ?? 0, row[2] ?? ""];
  return {
    key,
    id,
    n,
    tries,
    crashes,
    type: kind.type,
    tenant: kind.tenant,
    lane: kind.lane,
    priority: kind.priority,
    payload: row[5],
    payloadVersion: row[6],
    correlationId: row[7] ?? id,
    parentId: row[8],
    timeoutMs: kind.timeoutMs,
    concurrencyKey: row[9],
    tags: row[10] === null ? NO_TAGS : JSON.parse(row[10]),
    createdAt: row[3],
    runAt,
    maxAttempts: kind.maxAttempts,
    onOrphan: kind.onOrphan,
    retryOwner: kind.retryOwner,
  };
}
