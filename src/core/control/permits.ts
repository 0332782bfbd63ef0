/**
 * The arithmetic of limits.
 *
 * A limit allows so many running jobs, or so many starts per period. A worker holds permits: each
 * job that it runs, or has prefetched, uses one permit of each limit that applies to the job. The
 * worker keeps permits that are free for its next jobs, so that most claims touch no limit. The
 * store knows how many permits each worker holds, and `used` is their sum.
 */

/** The number of a limit. A limit that is removed and set again has another number. */
export type LimitId = number;

/** A token bucket: `count` starts in `perMs`, and up to `burst` at once. */
export interface TokenRate {
  readonly count: number;
  readonly perMs: number;
  readonly burst: number;
}

/** A rate, and what was left of it at a time. */
export interface RateState extends TokenRate {
  readonly tokens: number;
  readonly refilledAt: number;
}

/** How much of a limit is used. */
export interface LimitState {
  /** Running jobs that are allowed at the same time. Null: any number. */
  readonly cap: number | null;
  /** Permits that workers hold. */
  readonly used: number;
  readonly rate: RateState | null;
}

/**
 * The tokens that a rate has now. A clock that was ahead and went back leaves a time in the future:
 * if an empty rate would be full before that time, the rate is full.
 */
export function tokensAt(
  { count, perMs, burst, tokens, refilledAt }: RateState,
  now: number,
): number {
  if ((refilledAt - now) * count > burst * perMs) return burst;
  const passed = Math.max(0, now - refilledAt);
  return Math.min(burst, tokens + (passed * count) / perMs);
}

/** The time until a rate has a token. */
export function nextTokenMs(rate: RateState, now: number): number {
  const missing = 1 - tokensAt(rate, now);
  return missing <= 0 ? 0 : Math.ceil((missing * rate.perMs) / rate.count);
}

/**
 * How many jobs of a limit a claim may take. `free` are the free permits of the worker, which
 * `used` includes. A prefetch leaves half of the limit to jobs that start at once, and takes no
 * tokens: its jobs may go back unstarted.
 */
export function roomOf(
  { cap, used, rate }: LimitState,
  {
    free,
    prefetch,
    now,
  }: { readonly free: number; readonly prefetch: boolean; readonly now: number },
): number {
  if (rate !== null && prefetch) return 0;
  const most = cap === null ? Infinity : prefetch ? Math.floor(cap / 2) : cap;
  const tokens = rate === null ? Infinity : Math.floor(tokensAt(rate, now));
  return Math.max(0, Math.min(most - (used - free), tokens));
}

/** A number of permits of one limit. */
export interface PermitCount {
  readonly limit: LimitId;
  readonly count: number;
}

/** What a worker knows about its permits of one limit. */
interface Account {
  held: number;
  inUse: number;
  /** Lent to claims under way. */
  lent: number;
  /** Since when permits have been free, and how many all the time; null: none is. */
  freeSince: number | null;
  spare: number;
  /** Other workers want permits: the next free ones are given back. */
  isOwed: boolean;
  /** The newest request of other workers that was heard. */
  wantedAt: number;
}

/**
 * The permits of one worker. A worker never believes to hold more than the store has noted for it:
 * permits that were lent to a claim without an answer are forgotten, until {@link PermitBook.keep}
 * and {@link PermitBook.told}.
 */
export class PermitBook {
  readonly #accounts = new Map<LimitId, Account>();
  /** The store may have noted permits that the worker does not know. */
  #isUnsure = false;
  /** Others may want permits. */
  #isOwing = false;

  /** {@link nextReturn} may be now. */
  get isUrgent(): boolean {
    return this.#isUnsure || this.#isOwing;
  }

  /** Lends the free permits to a claim. Permits that others want are not lent. */
  lend(): readonly PermitCount[] {
    const lent: PermitCount[] = [];
    for (const [limit, account] of this.#accounts) {
      const count = freeOf(account);
      if (count <= 0 || account.isOwed) continue;
      account.lent += count;
      lent.push({ limit, count });
    }
    return lent;
  }

  /** A claim has ended: its permits are back, with those that the store has granted. */
  answered(lent: readonly PermitCount[], granted: readonly PermitCount[], now: number): void {
    for (const { limit, count } of lent) this.#of(limit).lent -= count;
    for (const { limit, count } of granted) {
      const account = this.#of(limit);
      account.held += count;
      noteFree(account, now);
    }
  }

  /** The answer of a claim is lost: its jobs may use the permits that were lent. */
  lost(lent: readonly PermitCount[]): void {
    for (const { limit, count } of lent) {
      const account = this.#of(limit);
      account.lent -= count;
      account.held -= count;
    }
    this.#isUnsure = true;
  }

  /** A job uses its permits. */
  use(limits: readonly LimitId[], now: number): void {
    this.#change(limits, 1, now);
  }

  /** The run of a job has ended, or the job went back to the queue. */
  free(limits: readonly LimitId[], now: number): void {
    this.#change(limits, -1, now);
  }

  #change(limits: readonly LimitId[], by: number, now: number): void {
    for (const limit of limits) {
      const account = this.#of(limit);
      account.inUse += by;
      noteFree(account, now);
    }
  }

  /** Other workers asked for permits of this limit at a time of the store's clock. */
  wanted(limit: LimitId, at: number): void {
    const account = this.#of(limit);
    if (at <= account.wantedAt) return;
    account.wantedAt = at;
    account.isOwed = account.held > 0;
    this.#isOwing ||= account.isOwed;
  }

  /**
   * When {@link toKeep} has to be called, in the time of the other calls; null: not before
   * something changes.
   */
  nextReturn(idleMs: number): number | null {
    if (this.#isUnsure) return -Infinity;
    let next: number | null = null;
    for (const account of this.#accounts.values()) {
      if (account.freeSince === null) continue;
      const at = account.isOwed ? -Infinity : account.freeSince + idleMs;
      next = Math.min(next ?? at, at);
    }
    return next;
  }

  /** The permits to keep, while no claim is under way: those in use or soon to be used. */
  toKeep(now: number, idleMs: number): readonly PermitCount[] {
    return [...this.#accounts].flatMap(([limit, account]) => {
      const isIdle = account.freeSince !== null && now - account.freeSince >= idleMs;
      const spare = isIdle ? account.spare : 0;
      const count = account.isOwed ? account.inUse : account.held - spare;
      return count > 0 ? [{ limit, count }] : [];
    });
  }

  /**
   * The worker holds these permits from now on, and no others. This comes before the store is told:
   * if the answer of the store is lost, the worker must not believe to hold more.
   */
  keep(permits: readonly PermitCount[], now: number): void {
    this.#isUnsure = true;
    const counts = new Map(permits.map(({ limit, count }) => [limit, count]));
    this.#isOwing = false;
    for (const [limit, account] of this.#accounts) {
      const count = counts.get(limit) ?? 0;
      if (count < account.held) account.isOwed = false;
      this.#isOwing ||= account.isOwed;
      account.held = count;
      account.freeSince = null;
      noteFree(account, now);
    }
  }

  /** The store has noted what the worker holds. */
  told(): void {
    this.#isUnsure = false;
  }

  #of(limit: LimitId): Account {
    const known = this.#accounts.get(limit);
    if (known !== undefined) return known;
    const account = {
      held: 0,
      inUse: 0,
      lent: 0,
      freeSince: null,
      spare: 0,
      isOwed: false,
      wantedAt: -Infinity,
    };
    this.#accounts.set(limit, account);
    return account;
  }
}

function freeOf({ held, inUse, lent }: Account): number {
  return held - inUse - lent;
}

/** Notes since when permits are free. Lent permits are not in use, so their time goes on. */
function noteFree(account: Account, now: number): void {
  const free = account.held - account.inUse;
  account.spare = account.freeSince === null ? free : Math.min(account.spare, free);
  if (free <= 0) account.freeSince = null;
  else account.freeSince ??= now;
}
