/** Limits in a claim: which jobs have a permit left, and the permits that the worker gets. */
import { idBytes } from "../../../core/ids.ts";
import {
  nextTokenMs,
  roomOf,
  tokensAt,
  type LimitId,
  type LimitState,
  type PermitCount,
} from "../../../core/control/permits.ts";
import { limitGate } from "../../shared/codes.ts";
import { INSTALLATION, limitsByTarget, limitState } from "../../shared/control/limit-rows.ts";
import type { ClaimRequest } from "../../types/jobs-and-runs.ts";
import type { ClaimPermits } from "../../types/limits.ts";
import type { Session } from "../database/session.ts";

/** A limit that is used up is marked at most this often as wanted. */
const WANTED_MS = 1_000;
/** A mark counts for so long: every worker that holds permits should claim within this time. */
const HEARD_MS = 2_000;

interface Limit extends LimitState {
  readonly id: LimitId;
  readonly name: number;
  /** Permits that this worker holds, and those of them that it has lent to the claim. */
  readonly held: number;
  readonly free: number;
  /** How many jobs of the limit the claim may take. */
  readonly room: number;
  readonly wantedAt: number | null;
}

/** What a limit looks at. */
export interface LimitedJob {
  readonly type: number;
  readonly tenant: number;
}

type LimitedRequest = Pick<ClaimRequest, "worker" | "permits"> & { readonly prefetch: boolean };

/** The limits as one claim sees them. */
export class ClaimLimits {
  readonly #limits: readonly Limit[];
  /** The limits of the jobs of each type and tenant, and of all jobs. */
  readonly #byTarget: ReadonlyMap<number, readonly Limit[]>;
  /** The limits of the jobs that were asked about, by type and tenant. */
  readonly #known = new Map<number, Map<number, JobLimits>>();
  readonly #now: number;
  /** The claim may take no job at all. */
  readonly isClosed: boolean;
  /** The types and tenants of which the claim may take no job, as a JSON list. */
  readonly full: string;

  constructor(limits: readonly Limit[], byTarget: LimitsByTarget, now: number) {
    const byId = new Map(limits.map((limit) => [limit.id, limit]));
    this.#limits = limits;
    this.#byTarget = new Map(
      [...byTarget].map(([target, ids]) => [target, ids.flatMap((id) => byId.get(id) ?? [])]),
    );
    this.#now = now;
    const full = [...this.#byTarget].flatMap(([target, own]) => (roomIn(own) > 0 ? [] : [target]));
    this.isClosed = full.includes(INSTALLATION);
    this.full = JSON.stringify(full);
  }

  /** The queues whose limits have a permit left, and how many jobs a claim may take of each. */
  get queues(): readonly { readonly gate: number; readonly room: number }[] {
    return [...this.#byTarget].flatMap(([target, own]) => {
      const room = roomIn(own);
      return target === INSTALLATION || room === 0 ? [] : [{ gate: limitGate(target), room }];
    });
  }

  /** The limits of a job. */
  of({ type, tenant }: LimitedJob): readonly LimitId[] {
    return this.#of({ type, tenant }).ids;
  }

  /** A claim has many jobs of few types and tenants: each pair is looked up once. */
  #of({ type, tenant }: LimitedJob): JobLimits {
    const ofType = this.#known.get(type) ?? new Map<number, JobLimits>();
    const known = ofType.get(tenant);
    if (known !== undefined) return known;
    const limits = [type, tenant, INSTALLATION].flatMap(
      (target) => this.#byTarget.get(target) ?? [],
    );
    const found = { limits, ids: limits.map(({ id }) => id) };
    this.#known.set(type, ofType.set(tenant, found));
    return found;
  }

  /** The first jobs of which each limit has a permit left. */
  admit<Job extends LimitedJob>(jobs: readonly Job[]): readonly Job[] {
    if (this.#limits.every(({ room }) => room >= jobs.length)) return jobs;
    const taken = new Map<LimitId, number>();
    return jobs.filter((job) => {
      const { limits } = this.#of(job);
      if (limits.some(({ id, room }) => (taken.get(id) ?? 0) >= room)) return false;
      for (const { id } of limits) taken.set(id, (taken.get(id) ?? 0) + 1);
      return true;
    });
  }

  /** The worker gets the permits of these jobs, which {@link admit} has let pass. */
  take({ sql }: Session, request: LimitedRequest, jobs: readonly LimitedJob[]): PermitCount[] {
    const worker = idBytes(request.worker);
    const counts = new Map<Limit, number>();
    for (const job of jobs) {
      for (const limit of this.#of(job).limits) counts.set(limit, (counts.get(limit) ?? 0) + 1);
    }
    return [...counts].flatMap(([{ id, held, free, rate }, taken]) => {
      if (rate !== null) {
        sql.run("take_tokens", { id, tokens: tokensAt(rate, this.#now) - taken, now: this.#now });
      }
      const count = taken - free;
      if (count <= 0) return [];
      sql.run("set_permit", { worker, limit_id: id, held: held + count });
      sql.run("add_used", { id, count });
      return [{ limit: id, count }];
    });
  }

  /** Whether {@link want} would change a limit. */
  get isUnwanted(): boolean {
    return this.#unwanted.length > 0;
  }

  /** Tells the workers that hold permits of limits that are used up. */
  want({ sql }: Session): void {
    for (const { id } of this.#unwanted) sql.run("want_limit", { id, now: this.#now });
  }

  get #unwanted(): readonly Limit[] {
    const before = this.#now - WANTED_MS;
    return this.#limits.filter(
      ({ room, used, held, wantedAt }) =>
        room === 0 && used > held && (wantedAt === null || wantedAt <= before),
    );
  }

  answer(granted: readonly PermitCount[], isCut: boolean): ClaimPermits {
    const limits = this.#limits;
    const full = limits.filter(({ room }) => room === 0);
    const retryMs = ({ rate }: Limit): number | null => {
      const ms = rate === null ? 0 : nextTokenMs(rate, this.#now);
      return ms === 0 ? null : ms;
    };
    return {
      granted,
      full: full.map((limit) => ({ limit: limit.id, retryMs: retryMs(limit) })),
      wanted: limits.flatMap(({ id, held, wantedAt }) => {
        const isHeard = held > 0 && wantedAt !== null && wantedAt > this.#now - HEARD_MS;
        return isHeard ? [{ limit: id, at: wantedAt }] : [];
      }),
      isCut,
    };
  }
}

interface JobLimits {
  readonly limits: readonly Limit[];
  readonly ids: readonly LimitId[];
}

type LimitsByTarget = ReturnType<typeof limitsByTarget>;

/** How many jobs a claim may take to which all these limits apply. */
function roomIn(limits: readonly Pick<Limit, "room">[]): number {
  return Math.min(...limits.map(({ room }) => room));
}

/** Null: there are no limits. */
export function limitsOf(session: Session, request: LimitedRequest): ClaimLimits | null {
  const { sql, clock } = session;
  const rows = sql.all("all_limits", {});
  if (rows.length === 0) return null;
  const now = clock.now();
  const worker = idBytes(request.worker);
  const { prefetch } = request;
  const held = new Map(
    sql.all("permits_of_worker", { worker }).map((row) => [row.limit_id, row.held]),
  );
  const lent = new Map((request.permits ?? []).map(({ limit, count }) => [limit, count]));
  const limits = rows.map((row) => {
    const state = limitState(row);
    const own = held.get(row.id) ?? 0;
    // A worker whose permits were taken back may lend some that it does not hold any more.
    const free = Math.max(0, Math.min(own, lent.get(row.id) ?? 0));
    const room = roomOf(state, { free, prefetch, now });
    return { ...state, id: row.id, name: row.name, held: own, free, room, wantedAt: row.wanted_at };
  });
  return new ClaimLimits(limits, limitsByTarget(sql.all("limit_targets", {})), now);
}

/** The types and tenants of which no worker can get a permit now, as a JSON list. */
export function fullTargets(session: Session): string {
  const full = targetRooms(session).flatMap(({ target, room }) => (room > 0 ? [] : [target]));
  return JSON.stringify(full);
}

/** The queues whose limits have a permit left, and jobs that wait for it. */
export function queuesWithRoom(session: Session): readonly number[] {
  return targetRooms(session).flatMap(({ target, room }) => {
    const gate = limitGate(target);
    if (target === INSTALLATION || room === 0) return [];
    return session.sql.get("any_limited", { gate }) === undefined ? [] : [gate];
  });
}

/** How many jobs of each limited type and tenant a worker without permits could claim. */
function targetRooms({
  sql,
  clock,
}: Session): readonly { readonly target: number; readonly room: number }[] {
  const free = { free: 0, prefetch: false, now: clock.now() };
  const rows = sql.all("all_limits", {});
  const rooms = new Map(rows.map((row) => [row.id, { room: roomOf(limitState(row), free) }]));
  return [...limitsByTarget(sql.all("limit_targets", {}))].map(([target, ids]) => ({
    target,
    room: roomIn(ids.flatMap((id) => rooms.get(id) ?? [])),
  }));
}
