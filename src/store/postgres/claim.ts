/** claim: how a batch of due jobs comes into a worker's hands. */
import { systemClock } from "../../lib/system.ts";
import { policyOfFlags, type NameKind } from "../codes.ts";
import type { Claim, ClaimedJob, ClaimRequest, WorkerId } from "../store.ts";
import { handBack } from "./buffer.ts";
import { Doubts } from "./doubts.ts";
import { UncertainWrite } from "./errors.ts";
import { keptBy } from "./kept.ts";
import { LowWater, type Position, type Stretch } from "./marks.ts";
import type { Name } from "./names.ts";
import { bounded } from "../limits.ts";
import type { Session } from "./session.ts";
import { list, uuidOf } from "./values.ts";
import type { BatchTuple, JobTuple } from "./work-rows.ts";

const SECRET_BYTES = 8;
/** Jobs in one lease; the schema refuses more. */
const LEASE_JOBS_MAX = 500;
const NO_TAGS: ClaimedJob["tags"] = Object.freeze({});

export async function claim(session: Session, request: ClaimRequest): Promise<Claim> {
  const { doubts, lowWater } = keptFor(session);
  const found = await findForgotten(session, doubts, request.worker);
  if (found !== null) return found;
  const wanted = await wantedBy(session, request);
  const marks = lowWater.of(JSON.stringify(wanted));
  const limit = bounded(request.limit, LEASE_JOBS_MAX);
  const { answer } = await marks.scan(limit, (stretches) =>
    takeBatch(session, doubts, request.worker, { ...wanted, limit, stretches }),
  );
  return answer;
}

/** What a store keeps between its claims. */
const keptFor = keptBy(({ watcher }) => {
  const monotonic = (): number => systemClock.monotonic();
  const lowWater = new LowWater(monotonic);
  watcher.watch((hint) => lowWater.hear(hint));
  return { doubts: new Doubts(monotonic), lowWater };
});

/** What a claim looks for, as the statement takes it. */
interface Wanted {
  /** Lists of ids; null for all. */
  readonly lanes: string | null;
  readonly types: string | null;
  readonly tenants: string | null;
  readonly buffer: boolean;
}

async function wantedBy(session: Session, request: ClaimRequest): Promise<Wanted> {
  const { types, tenants, buffer } = request;
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
    buffer,
  };
}

function namesOf(kind: NameKind, texts: readonly string[] = []): Name[] {
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
  readonly stretches: readonly Stretch[] | null;
}

/** An answer, and where its jobs lay. */
interface Batch {
  readonly answer: Claim;
  readonly places: readonly Position[];
}

async function takeBatch(
  session: Session,
  doubts: Doubts,
  worker: WorkerId,
  { stretches, ...wanted }: Asked,
): Promise<Batch> {
  const secret = Buffer.from(session.dice.bytes(SECRET_BYTES)).toString("hex");
  const marks = stretches === null ? null : JSON.stringify(stretches);
  const parameters = { ...wanted, worker: uuidOf(worker), secret, marks };
  try {
    const rows = await session.write.tuples("claim", parameters);
    const batch = await batchOf(session, rows, secret);
    if (batch.places.length > 0 && !wanted.buffer) session.watcher.wake("news");
    return batch;
  } catch (error) {
    const { buffer } = wanted;
    if (error instanceof UncertainWrite) doubts.add({ worker, secret, buffer });
    throw error;
  }
}

/**
 * What a claim of the worker took whose answer was lost. Jobs that lie in a buffer have not begun,
 * so they go back: whoever asks now may mean to run what he gets, or want fewer.
 */
async function findForgotten(
  session: Session,
  doubts: Doubts,
  worker: WorkerId,
): Promise<Claim | null> {
  for (const doubt of doubts.due(worker)) {
    const { secret, buffer } = doubt;
    const rows = await session.read.tuples("claimed_by", { worker: uuidOf(worker), secret });
    const { answer } = await batchOf(session, rows, secret);
    if (answer.lease === null) {
      doubts.miss(doubt);
      continue;
    }
    const keys = answer.jobs.map(({ key }) => key);
    if (buffer) await handBack(session, answer.lease, keys);
    doubts.settle(doubt);
    if (!buffer) return answer;
  }
  return null;
}

type Row = BatchTuple | JobTuple;

async function batchOf(session: Session, rows: readonly Row[], secret: string): Promise<Batch> {
  const [first, ...others] = rows;
  if (first === undefined || first[1] === null) {
    return { answer: { lease: null, jobs: [], lost: first?.[0] === true }, places: [] };
  }
  const [, number, keys, ranks, ns, tries, crashes] = first;
  const jobs = others.filter(isJob);
  await learnNames(session, jobs);
  const byKey = new Map(jobs.map((row) => [row[7], row]));
  const runs = (keys ?? []).map((key, index) => {
    const row = byKey.get(key);
    if (row === undefined) throw new Error(`job ${key} is ready but has no row`);
    const rank = ranks![index]!;
    return { rank, row, n: ns![index]!, tries: tries![index]!, crashes: crashes![index]! };
  });
  return {
    answer: {
      lease: { number, secret },
      jobs: runs.map((run) => claimedJob(session, run)),
      lost: false,
    },
    places: runs.map(({ rank, row }) => ({ lane: row[11], priority: row[12], rank, key: row[7] })),
  };
}

/** A job and the run that begins. */
interface Run {
  readonly row: JobTuple;
  readonly rank: number;
  readonly n: number;
  readonly tries: number;
  readonly crashes: number;
}

function isJob(row: Row): row is JobTuple {
  return row[0] === null;
}

/** The jobs are taken: when their names cannot be learnt now, they are asked for again. */
async function learnNames({ names }: Session, jobs: readonly JobTuple[]): Promise<void> {
  const ids = new Set<number>();
  for (const row of jobs) ids.add(row[9]).add(row[10]).add(row[11]);
  try {
    await names.learn([...ids]);
  } catch (error) {
    throw new UncertainWrite(error);
  }
}

function claimedJob({ names }: Session, { row, rank, n, tries, crashes }: Run): ClaimedJob {
  const [, , , , , , , key, id, type, tenant, lane, priority, maxAttempts, timeoutMs] = row;
  const [, , , , , , , , , , , , , , , payload, payloadVersion, correlation, parentId] = row;
  const concurrencyKey = row[19];
  const { onOrphan, retryOwner } = policyOfFlags(row[22]);
  return {
    key,
    id,
    n,
    tries,
    crashes,
    type: names.text(type),
    tenant: names.text(tenant),
    lane: names.text(lane),
    priority,
    payload,
    payloadVersion,
    correlationId: correlation ?? id,
    parentId,
    timeoutMs,
    concurrencyKey,
    tags: row[20] === null ? NO_TAGS : JSON.parse(row[20]),
    createdAt: row[21],
    runAt: Math.floor(rank / 1000),
    maxAttempts,
    onOrphan,
    retryOwner,
  };
}
