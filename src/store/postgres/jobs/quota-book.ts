/**
 * What one process knows about quotas. While no quota is set, an enqueue only sends the revision
 * that the process knows, and the statement that inserts the jobs compares it.
 *
 * Counts and tokens are read and taken by statements of the store's own, before the jobs are
 * inserted: inside a caller's transaction, the row of the tokens would stay locked until the caller
 * commits. But only a caller's transaction sees its own jobs, so from its second call on it counts
 * as well.
 */
import {
  chunkOf,
  payloadExcess,
  rateExcess,
  TokenPurse,
  WaitingBook,
  type Quota,
  type QuotaExcess,
} from "../../../core/control/quotas.ts";
import type { TokenRate } from "../../../core/control/permits.ts";
import type { JobId } from "../../../core/job.ts";
import { systemClock } from "../../../lib/system.ts";
import {
  ANY_TENANT,
  isUnderQuota,
  payloadBytesOf,
  quotaOfRow,
  quotaRefusal,
} from "../../shared/control/quotas.ts";
import type { EnqueueAnswer, NewJob, RefusedJob } from "../../types/jobs-and-runs.ts";
import { QUOTA_ROWS_MAX, QUOTAS_MAX } from "../../types/quotas.ts";
import type { Session } from "../database/session.ts";
import type { Sql } from "../database/statements.ts";

/** Known quotas are read again after this time, if there are any. */
const QUOTAS_AGE_MS_MAX = 1_000;

/** The jobs of a call that quotas refuse, unless they exist already. */
export type OverQuota = ReadonlyMap<JobId, RefusedJob>;

/** What quotas say about the jobs of a call. */
export interface QuotaPass {
  readonly refused: OverQuota;
  /** Has to be called when the jobs are stored, or were not made. */
  landed(answers: readonly EnqueueAnswer[] | null): void;
}

/** A caller's transaction. */
interface OpenTransaction {
  readonly tx: object;
  readonly sql: Pick<Sql, "get">;
}

/** What a caller's transaction knows about the tenants of a call. */
interface SeenInside {
  readonly book: WaitingBook;
  /** The tenants that were counted, and whether this was for the present call. */
  readonly isNew: ReadonlyMap<string, boolean>;
}

export const NONE_REFUSED: OverQuota = new Map();
const FREE_PASS: QuotaPass = { refused: NONE_REFUSED, landed: () => {} };

/** A quota is newer than those that the process knows. */
export class NewerQuotas extends Error {}

export class QuotaBook {
  readonly #session: Session;
  readonly #waiting = new WaitingBook();
  readonly #purse = new TokenPurse();
  /** What callers' transactions have counted. A connection may have had several of them. */
  readonly #transactions = new WeakMap<object, WaitingBook>();
  #quotas: ReadonlyMap<string | null, Quota> = new Map();
  #revision = 0;
  #readAt = -Infinity;
  /** Calls are admitted one after the other. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(session: Session) {
    this.#session = session;
  }

  /** The newest quota that the process knows; 0: none. */
  get revision(): number {
    return this.#revision;
  }

  /** Admits the jobs of a call, as far as the process knows the quotas. */
  admit(jobs: readonly NewJob[]): QuotaPass | Promise<QuotaPass> {
    if (this.#isFree(jobs)) return FREE_PASS;
    return this.#inTurn(async () => {
      await this.#refresh(QUOTAS_AGE_MS_MAX);
      return this.#admitAll(jobs);
    });
  }

  /**
   * The same in a caller's transaction. Its first call relies on the counts of the process, so that
   * transactions with one call cost no more than other calls.
   */
  async admitInTransaction(
    jobs: readonly NewJob[],
    { tx, sql }: OpenTransaction,
  ): Promise<QuotaPass> {
    const book = this.#transactions.get(tx);
    if (book === undefined) this.#transactions.set(tx, new WaitingBook());
    if (book === undefined || this.#isFree(jobs)) return this.admit(jobs);
    // Not in turn: a caller's connection may be busy for as long as the caller likes.
    const isNew = await this.#countInside(book, sql, jobs);
    return this.#inTurn(async () => {
      await this.#refresh(QUOTAS_AGE_MS_MAX);
      return this.#admitAll(jobs, { book, isNew });
    });
  }

  /** The same, after the quotas have been read. */
  async admitFresh(jobs: readonly NewJob[]): Promise<QuotaPass> {
    return this.#inTurn(async () => {
      await this.#refresh(0);
      return this.#admitAll(jobs);
    });
  }

  /** The same, if a quota is newer than those by which the jobs were admitted before. */
  async admitIfNewer(jobs: readonly NewJob[]): Promise<OverQuota> {
    return this.#inTurn(async () => {
      const before = this.#revision;
      await this.#refresh(0);
      if (this.#revision === before) return NONE_REFUSED;
      const pass = await this.#admitAll(jobs);
      pass.landed(null);
      return pass.refused;
    });
  }

  async #inTurn<Answer>(work: () => Promise<Answer>): Promise<Answer> {
    const turn = this.#last.then(work);
    this.#last = turn.catch(() => {});
    return turn;
  }

  async #refresh(ageMs: number): Promise<void> {
    const now = this.#now();
    if (now - this.#readAt < ageMs) return;
    const { read, names } = this.#session;
    const rows = await read.all("all_quotas", { limit: QUOTAS_MAX });
    await names.learn(rows.map(({ tenant }) => tenant).filter((id) => id !== ANY_TENANT));
    this.#quotas = new Map(
      rows.map((row) => [
        row.tenant === ANY_TENANT ? null : names.text(row.tenant),
        quotaOfRow(row),
      ]),
    );
    this.#revision = Math.max(this.#revision, ...rows.map(({ revision }) => revision));
    this.#readAt = now;
  }

  #isFree(jobs: readonly NewJob[]): boolean {
    return this.#quotas.size === 0 || !jobs.some((job) => this.#quotaOf(job) !== null);
  }

  #quotaOf(job: NewJob): Quota | null {
    if (!isUnderQuota(job)) return null;
    return this.#quotas.get(job.tenant) ?? this.#quotas.get(null) ?? null;
  }

  async #countInside(
    book: WaitingBook,
    sql: OpenTransaction["sql"],
    jobs: readonly NewJob[],
  ): Promise<SeenInside["isNew"]> {
    const isNew = new Map<string, boolean>();
    for (const [tenant, own] of Map.groupBy(jobs.filter(isUnderQuota), (job) => job.tenant)) {
      const limit = this.#quotaOf(own[0]!)?.waiting ?? null;
      if (limit === null) continue;
      const isDue = book.needsCount(tenant, own.length, this.#now());
      if (isDue) await this.#count(tenant, limit, book, sql);
      isNew.set(tenant, isDue);
    }
    return isNew;
  }

  async #admitAll(jobs: readonly NewJob[], inside: SeenInside | null = null): Promise<QuotaPass> {
    const refused = new Map<JobId, RefusedJob>();
    const flying: { readonly job: NewJob; readonly quota: Quota }[] = [];
    for (const [tenant, own] of Map.groupBy(jobs, (job) => job.tenant)) {
      const quota = own.map((job) => this.#quotaOf(job)).find((each) => each !== null);
      if (quota === undefined || quota === null) continue;
      const under = own.filter(isUnderQuota);
      const { admitted, excess } = await this.#admitTenant(tenant, quota, under, inside);
      for (const [job, why] of excess) refused.set(job.id, quotaRefusal(job, why));
      flying.push(...admitted.map((job) => ({ job, quota })));
    }
    const books = inside === null ? [this.#waiting] : [this.#waiting, inside.book];
    return { refused, landed: (answers) => this.#landed(flying, jobs, answers, books) };
  }

  async #admitTenant(
    tenant: string,
    quota: Quota,
    jobs: readonly NewJob[],
    inside: SeenInside | null,
  ): Promise<{ admitted: readonly NewJob[]; excess: Map<NewJob, QuotaExcess> }> {
    const excess = new Map<NewJob, QuotaExcess>();
    for (const job of jobs) {
      const tooLong = payloadExcess(quota, payloadBytesOf(job));
      if (tooLong !== null) excess.set(job, tooLong);
    }
    const short = jobs.filter((job) => !excess.has(job));
    const { room, full } = await this.#roomOf(tenant, quota.waiting, short.length, inside);
    for (const job of short.slice(room)) excess.set(job, full);
    const fitting = short.slice(0, room);
    const { tokens, empty } = await this.#tokensOf(tenant, quota.rate, fitting.length);
    for (const job of fitting.slice(tokens)) excess.set(job, empty);
    const admitted = fitting.slice(0, tokens);
    if (quota.waiting !== null) {
      this.#waiting.admit(tenant, admitted.length, true);
      inside?.book.admit(tenant, admitted.length, true);
    }
    return { admitted, excess };
  }

  async #roomOf(
    tenant: string,
    limit: number | null,
    wanted: number,
    inside: SeenInside | null,
  ): Promise<{ readonly room: number; readonly full: QuotaExcess }> {
    const full = (used: number): QuotaExcess => {
      return { quota: "waiting", limit: limit ?? 0, used, retryAfterMs: null };
    };
    if (limit === null || wanted === 0) return { room: wanted, full: full(0) };
    const isNew = this.#waiting.needsCount(tenant, wanted, this.#now());
    if (isNew) await this.#count(tenant, limit, this.#waiting, this.#session.read);
    const room = Math.min(wanted, this.#waiting.room(tenant, limit, isNew));
    const used = this.#waiting.used(tenant);
    const isNewInside = inside?.isNew.get(tenant);
    if (inside === null || isNewInside === undefined) return { room, full: full(used) };
    return {
      room: Math.min(room, inside.book.room(tenant, limit, isNewInside)),
      full: full(Math.max(used, inside.book.used(tenant))),
    };
  }

  async #count(
    tenant: string,
    limit: number,
    book: WaitingBook,
    sql: OpenTransaction["sql"],
  ): Promise<void> {
    const begun = book.beginCount(tenant);
    const since = this.#now();
    const id = await this.#session.names.id("tenant", tenant);
    const bounds = { tenant: id ?? ANY_TENANT, max: limit, rows: QUOTA_ROWS_MAX };
    const row = await sql.get("count_of_tenant", bounds);
    const now = this.#now();
    book.counted(tenant, row?.count ?? 0, limit, { begun, now, tookMs: now - since });
  }

  /** Uses the tokens that the process holds, and takes more from the store if it has to. */
  async #tokensOf(
    tenant: string,
    rate: TokenRate | null,
    wanted: number,
  ): Promise<{ readonly tokens: number; readonly empty: QuotaExcess }> {
    const none = { quota: "rate", limit: rate?.count ?? 0, used: 0, retryAfterMs: 0 } as const;
    if (rate === null || wanted === 0) return { tokens: wanted, empty: none };
    const held = this.#purse.use(tenant, rate, wanted, this.#now());
    if (held === wanted) return { tokens: held, empty: none };
    const { write, names } = this.#session;
    const row = await write.get("take_quota_tokens", {
      tenant: (await names.id("tenant", tenant)) ?? ANY_TENANT,
      wanted: Math.max(wanted - held, chunkOf(rate)),
      rate_count: rate.count,
      rate_ms: rate.perMs,
      burst: rate.burst,
    });
    const { granted = 0, tokens: left = 0, at = 0 } = row ?? {};
    const used = Math.min(granted, wanted - held);
    if (granted > used) this.#purse.put(tenant, rate, granted - used, this.#now());
    const state = { ...rate, tokens: left, refilledAt: at };
    return { tokens: held + used, empty: rateExcess(state, at) };
  }

  #landed(
    flying: readonly { readonly job: NewJob; readonly quota: Quota }[],
    jobs: readonly NewJob[],
    answers: readonly EnqueueAnswer[] | null,
    books: readonly WaitingBook[],
  ): void {
    const made = new Set(
      jobs.flatMap(({ id }, index) => (answers?.[index]?.status === "created" ? [id] : [])),
    );
    for (const { job, quota } of flying) {
      const isMade = answers === null || made.has(job.id);
      if (quota.waiting !== null) for (const book of books) book.landed(job.tenant, isMade);
      if (quota.rate !== null && !isMade) this.#purse.put(job.tenant, quota.rate, 1, this.#now());
    }
  }

  #now(): number {
    return (this.#session.clock ?? systemClock).monotonic();
  }
}
