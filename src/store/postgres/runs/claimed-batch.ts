/** Reads the answer of a claim: the lease, and its jobs in the order of the lease. */
import { idUuid } from "../../../core/ids.ts";
import type { LimitId } from "../../../core/control/permits.ts";
import { policyOfFlags } from "../../shared/codes.ts";
import { INSTALLATION, limitsByTarget } from "../../shared/control/limit-rows.ts";
import type { ClaimPermits } from "../../types/limits.ts";
import type { Claim, ClaimedJob } from "../../types/jobs-and-runs.ts";
import type { Position } from "../../shared/claim-cursor.ts";
import { UncertainWrite } from "../database/errors.ts";
import type { ClaimTuple } from "../database/queries.gen.ts";
import type { Session } from "../database/session.ts";

const NO_TAGS: ClaimedJob["tags"] = Object.freeze({});

/** The answer, the number of its jobs, and the positions of those without a crash. */
export interface ClaimedBatch {
  readonly answer: Claim;
  readonly count: number;
  readonly positions: readonly Position[];
  /** How long the server has scanned. */
  readonly scanMs: number;
  /** Jobs were left out, because their key has a rate and no token. */
  readonly isSpent: boolean;
  /** The time of the claim; null: no job was claimed, or the batch was read again. */
  readonly claimedAt: number | null;
}

const MICROS_PER_MS = 1_000;

/** The lists of a lease, one entry for each run, in the order of the lease. */
type ClaimLists = readonly [
  keys: readonly number[],
  ranks: readonly number[],
  ns: readonly number[],
  tries: readonly number[],
  crashes: readonly number[],
  /** Ranks, if some of them are turns. */
  turns?: readonly number[] | null,
  /** The time of the claim. */
  claimedAt?: number | null,
];

export async function batchOf(
  session: Session,
  answer: readonly ClaimTuple[],
  secret: string,
): Promise<ClaimedBatch> {
  const [first] = answer;
  const rows = answer.slice(1);
  const [lost = false, number = null] = first ?? [];
  // A batch that is read again has no words and was not scanned for.
  const words = first?.[4]?.split(" ") ?? [];
  const scanMs = (first?.[3] ?? 0) / MICROS_PER_MS;
  const awaitsAlone = words.includes("alone");
  const tookAll = words.includes("all");
  const isSpent = words.includes("spent");
  const limits = limitWordsOf(first?.[10] ?? null);
  if (first === undefined || number === null) {
    const nothing = { lease: null, jobs: [], lost, awaitsAlone, tookAll, ...limits?.answer };
    return { answer: nothing, count: 0, positions: [], scanMs, isSpent, claimedAt: null };
  }
  const byKey = new Map<number | null, ClaimTuple>();
  for (const row of rows) byKey.set(row[1], row);
  const kinds = await kindsOf(session, rows);
  const lists: ClaimLists = JSON.parse(first[5] ?? "[]");
  const [keys, ranks, ns, tries, crashes, turns, claimedAt = null] = lists;
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
    const job = claimedJob(row, kind, run, Math.floor(rank / 1000));
    jobs.push(limits === null ? job : withLimits(job, kind, limits));
    // The marks are those of the jobs without a crash: the others are in an index of their own.
    if (run.crashes > 0) continue;
    const place = { lane: kind.laneNumber, priority: kind.priority, key };
    positions.push({ ...place, rank: turns?.[index] ?? rank });
  }
  const lease = jobs.length === 0 ? null : { number, secret };
  const claimed = { lease, jobs, lost: false, awaitsAlone, tookAll, ...limits?.answer };
  return { answer: claimed, count: jobs.length, positions, scanMs, isSpent, claimedAt };
}

/** What the first row says about limits. Lists of pairs. */
interface LimitWords {
  readonly granted?: readonly (readonly [LimitId, count: number])[] | null;
  readonly full?: readonly (readonly [LimitId, retryMs: number | null])[];
  readonly wanted?: readonly (readonly [LimitId, at: number])[];
  readonly limits?: readonly (readonly [LimitId, target: number])[] | null;
  readonly cut?: boolean;
}

interface ClaimedLimits {
  readonly answer: { readonly permits: ClaimPermits };
  readonly byTarget: ReadonlyMap<number, readonly LimitId[]>;
  /** The limits of the jobs of a kind. Undefined: none. */
  readonly byKind: Map<ClaimedKind, { readonly limits?: readonly LimitId[] }>;
}

/** Null: there are no limits. */
function limitWordsOf(json: string | null): ClaimedLimits | null {
  if (json === null) return null;
  const words: LimitWords = JSON.parse(json);
  const permits = {
    granted: (words.granted ?? []).map(([limit, count]) => ({ limit, count })),
    full: (words.full ?? []).map(([limit, retryMs]) => ({ limit, retryMs })),
    wanted: (words.wanted ?? []).map(([limit, at]) => ({ limit, at })),
    isCut: words.cut ?? false,
  };
  const targets = (words.limits ?? []).map(([limit_id, target]) => ({ limit_id, target }));
  return { answer: { permits }, byTarget: limitsByTarget(targets), byKind: new Map() };
}

function withLimits(
  job: ClaimedJob,
  kind: ClaimedKind,
  { byTarget, byKind }: ClaimedLimits,
): ClaimedJob {
  const known = byKind.get(kind);
  if (known !== undefined) return Object.assign(job, known);
  const targets = [kind.typeNumber, kind.tenantNumber, INSTALLATION];
  const limits = targets.flatMap((target) => byTarget.get(target) ?? []);
  const own = limits.length === 0 ? {} : { limits };
  byKind.set(kind, own);
  return Object.assign(job, own);
}

/** Fields that many jobs of a batch share. */
interface ClaimedKind {
  readonly typeNumber: number;
  readonly tenantNumber: number;
  readonly type: string;
  readonly tenant: string;
  readonly lane: string;
  readonly laneNumber: number;
  readonly priority: number;
  readonly maxAttempts: number;
  readonly isSuccessor: boolean;
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
    typeNumber: type,
    tenantNumber: tenant,
    type: names.text(type),
    tenant: names.text(tenant),
    lane: names.text(lane),
    laneNumber: lane,
    priority,
    maxAttempts,
    isSuccessor: numbers[6] === 1,
    timeoutMs: numbers[7] ?? null,
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
    isSuccessor: kind.isSuccessor,
    type: kind.type,
    tenant: kind.tenant,
    lane: kind.lane,
    priority: kind.priority,
    payload: row[5],
    payloadVersion: row[6],
    correlationId: row[7] ?? idUuid(id),
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
