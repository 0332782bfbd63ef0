/** claim: leases a batch of due jobs to a worker. */
import { systemClock } from "../../../lib/system.ts";
import { policyOfFlags, type NameKind } from "../../shared/codes.ts";
import { BATCH_MAX } from "../../store.ts";
import type { Claim, ClaimedJob, ClaimRequest } from "../../types/jobs-and-runs.ts";
import { returnPrefetched } from "./prefetch.ts";
import { UncertainWrite } from "../database/errors.ts";
import { LowWaterMarks, type Position, type ClaimRange } from "./claim-cursor.ts";
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
  const found = await findLostClaim(session, { ...request, limit });
  if (found !== null) return found;
  const wanted = await filterOf(session, request);
  const cursor = claimCursorsOf(session).of(JSON.stringify(wanted));
  const { answer } = await cursor.scan(limit, (ranges) =>
    claimBatch(session, request, { ...wanted, limit, ranges }),
  );
  return answer;
}

function claimCursorsOf({ state, notifier, clock }: Session): LowWaterMarks {
  if (state.claimCursors !== null) return state.claimCursors;
  const cursors = new LowWaterMarks(() => (clock ?? systemClock).monotonic());
  notifier.watch((wakeUp) => cursors.onWakeUp(wakeUp));
  state.claimCursors = cursors;
  return cursors;
}

/** The lists of a lease, one entry for each run, in the order of the lease. */
type ClaimLists = readonly [
  keys: readonly number[],
  ranks: readonly number[],
  ns: readonly number[],
  tries: readonly number[],
  crashes: readonly number[],
];

/** The filter of a claim, as parameters. */
interface ClaimFilter {
  /** Lists of ids; null for all. */
  readonly lanes: string | null;
  readonly types: string | null;
  readonly tenants: string | null;
  readonly prefetch: boolean;
}

async function filterOf(session: Session, request: ClaimRequest): Promise<ClaimFilter> {
  const { types, tenants, prefetch } = request;
  const lanes = request.lanes === "any" ? undefined : request.lanes;
  // A new name has no jobs, but once it is interned, no claim looks it up again.
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

/** The parameters of one claim statement. */
interface BatchRequest extends ClaimFilter {
  readonly limit: number;
  readonly ranges: readonly ClaimRange[] | null;
}

/** The answer, and the positions of its jobs. */
interface ClaimedBatch {
  readonly answer: Claim;
  readonly positions: readonly Position[];
}

async function claimBatch(
  session: Session,
  request: ClaimRequest,
  { ranges, ...wanted }: BatchRequest,
): Promise<ClaimedBatch> {
  const secret = Buffer.from(session.dice.bytes(SECRET_BYTES)).toString("hex");
  const worker = uuidOf(request.worker);
  const parameters = { ...wanted, ...rangeParameters(ranges), worker, secret };
  try {
    const rows = await session.write.tuples("claim", parameters);
    const batch = await batchOf(session, rows, secret);
    if (batch.positions.length > 0 && !wanted.prefetch) session.notifier.wake("events");
    return batch;
  } catch (error) {
    if (error instanceof UncertainWrite) session.state.lostClaims.add(request, secret);
    throw error;
  }
}

type RangeParameters = Pick<
  Bound<"claim">,
  "mark_lanes" | "mark_priorities" | "mark_ranks" | "mark_keys" | "mark_ends"
>;

/** One list for each column of the ranges. */
function rangeParameters(ranges: readonly ClaimRange[] | null): RangeParameters {
  const column = (name: keyof ClaimRange): string | null =>
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
 * Finds the jobs of the worker's lost claims. Started jobs are answered to the next claims for the
 * same slots, at most `limit` per claim. Prefetched jobs have not started and are returned to the
 * queue, because the current claim may be for immediate execution.
 */
async function findLostClaim(session: Session, request: ClaimRequest): Promise<Claim | null> {
  const { lostClaims } = session.state;
  for (const lostClaim of lostClaims.due(request)) {
    const { secret, delivered } = lostClaim;
    const worker = uuidOf(request.worker);
    const rows = await session.read.tuples("claimed_by", { worker, secret });
    const { answer } = await batchOf(session, rows, secret);
    if (answer.lease === null) {
      lostClaims.notFound(lostClaim);
      continue;
    }
    const unanswered = answer.jobs.filter(({ key }) => !delivered.has(key));
    if (lostClaim.request.prefetch) {
      const keys = unanswered.map(({ key }) => key);
      await returnPrefetched(session, answer.lease, keys);
      lostClaims.resolve(lostClaim);
      continue;
    }
    const jobs = unanswered.slice(0, request.limit);
    for (const { key } of jobs) delivered.add(key);
    if (jobs.length === unanswered.length) lostClaims.resolve(lostClaim);
    if (jobs.length > 0) return { ...answer, jobs };
  }
  return null;
}

async function batchOf(
  session: Session,
  answer: readonly ClaimTuple[],
  secret: string,
): Promise<ClaimedBatch> {
  const [first] = answer;
  const rows = answer.slice(1);
  const [lost = false, number = null] = first ?? [];
  if (first === undefined || number === null) {
    return { answer: { lease: null, jobs: [], lost }, positions: [] };
  }
  const byKey = new Map<number | null, ClaimTuple>();
  for (const row of rows) byKey.set(row[1], row);
  const kinds = await kindsOf(session, rows);
  const [keys, ranks, ns, tries, crashes]: ClaimLists = JSON.parse(first[5] ?? "[]");
  const jobs: ClaimedJob[] = [];
  const positions: Position[] = [];
  for (let index = 0; index < keys.length; index += 1) {
    const key = keys[index]!;
    const row = byKey.get(key);
    const kind = kinds.get(row?.[4] ?? "");
    // A place without a job: the claim has deleted it.
    if (row === undefined || kind === undefined) {
      session.warnings.reportMissing("claim", [key]);
      continue;
    }
    const rank = ranks[index]!;
    const run = { n: ns[index]!, tries: tries[index]!, crashes: crashes[index]! };
    jobs.push(claimedJob(row, kind, run, Math.floor(rank / 1000)));
    positions.push({ lane: kind.laneNumber, priority: kind.priority, rank, key });
  }
  const lease = jobs.length === 0 ? null : { number, secret };
  return { answer: { lease, jobs, lost: false }, positions };
}

/** Fields that many jobs of a batch share. */
interface ClaimedKind {
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
 * The kinds of these jobs by their texts. The jobs are claimed already: if their names cannot be
 * read now, the claim counts as lost, and a later claim finds the jobs.
 */
async function kindsOf(
  { names }: Session,
  rows: readonly ClaimTuple[],
): Promise<ReadonlyMap<string, ClaimedKind>> {
  const texts = [...new Set(rows.map((row) => row[4]))];
  const numbers = texts.map((text) => text.split(" ").map(Number));
  try {
    await names.learn(numbers.flatMap((each) => each.slice(0, 3)));
  } catch (error) {
    throw new UncertainWrite(error);
  }
  return new Map(texts.map((text, index) => [text, kindOf(names, numbers[index]!)]));
}

function kindOf(names: Session["names"], numbers: readonly number[]): ClaimedKind {
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
  kind: ClaimedKind,
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
