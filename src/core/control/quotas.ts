/**
 * The arithmetic of quotas: how many new jobs of a tenant a process may admit.
 *
 * A count of waiting jobs is expensive, so a process remembers it and adds the jobs that it admits
 * itself. Jobs that other processes admit meanwhile are not seen, so a process admits at most a
 * tenth of the room on one count, and counts again after a second. A slow count has a rest: then a
 * tenant with room for few jobs is refused what is not granted.
 */
import { nextTokenMs, tokensAt, type RateState, type TokenRate } from "./permits.ts";

/** What a tenant may enqueue. Null: any number. */
export interface Quota {
  /** Jobs that are scheduled, queued or held back at the same time. */
  readonly waiting: number | null;
  /** New jobs in a period. */
  readonly rate: TokenRate | null;
  /** Bytes of the JSON of one payload. */
  readonly payloadBytes: number | null;
}

/** The part of a quota that refuses a job. */
export interface QuotaExcess {
  readonly quota: "waiting" | "rate" | "payloadBytes";
  readonly limit: number;
  readonly used: number;
  /** When a token is there; null: the time is unknown. */
  readonly retryAfterMs: number | null;
}

/** A count is too old after this time. */
const COUNT_AGE_MS_MAX = 1_000;
/** The part of the room that a process takes on one count. */
const GRANT_DIVISOR = 10;
/** A count that takes longer is limited to 5 % of the time. */
const COUNT_MS_FREE = 25;
const REST = 20;
/** Tokens that a process has taken and not used are forgotten after this time. */
const TOKENS_AGE_MS_MAX = 1_000;
/** The tenants whose counts and tokens a process remembers. */
const TENANTS_MAX = 10_000;

interface Count {
  count: number;
  countedAt: number;
  /** Until then, no other count is made because of the room. */
  restUntil: number;
  /** Room for fewer jobs: until `restUntil`, jobs beyond the grant are refused. */
  readonly isNearlyFull: boolean;
  /** Jobs that may be admitted on this count. */
  grant: number;
  /** Admitted jobs that the count may not include. */
  added: number;
}

/** The waiting jobs of tenants, as far as one process knows. */
export class WaitingBook {
  readonly #counts = new Map<string, Count>();
  /** Admitted jobs that are not stored yet, and all that were ever admitted. */
  readonly #inFlight = new Map<string, number>();
  readonly #admitted = new Map<string, number>();

  /** Whether the jobs of the tenant have to be counted before `wanted` jobs are admitted. */
  needsCount(tenant: string, wanted: number, now: number): boolean {
    const known = this.#counts.get(tenant);
    if (known === undefined || now < known.countedAt) return true;
    const isResting = now < known.restUntil;
    if (wanted > known.grant) return !isResting || !known.isNearlyFull;
    return !isResting && now - known.countedAt >= COUNT_AGE_MS_MAX;
  }

  /** Before a count. Answers what {@link counted} needs. */
  beginCount(tenant: string): number {
    return (this.#admitted.get(tenant) ?? 0) - (this.#inFlight.get(tenant) ?? 0);
  }

  counted(
    tenant: string,
    count: number,
    quota: number,
    at: { readonly begun: number; readonly now: number; readonly tookMs: number },
  ): void {
    const added = (this.#admitted.get(tenant) ?? 0) - at.begun;
    const room = Math.max(0, quota - count - added);
    const forgotten = forgetOldest(this.#counts, tenant);
    if (forgotten !== null && !this.#inFlight.has(forgotten)) this.#admitted.delete(forgotten);
    this.#counts.set(tenant, {
      count,
      countedAt: at.now,
      restUntil: at.tookMs > COUNT_MS_FREE ? at.now + at.tookMs * REST : at.now,
      isNearlyFull: room < GRANT_DIVISOR,
      grant: Math.ceil(room / GRANT_DIVISOR),
      added,
    });
  }

  /** The waiting jobs of the tenant, with those that this process has admitted since the count. */
  used(tenant: string): number {
    const known = this.#counts.get(tenant);
    return known === undefined ? 0 : known.count + known.added;
  }

  /** The jobs that may be admitted: all that fit if the count is new, else what is granted. */
  room(tenant: string, quota: number, isNew: boolean): number {
    const fit = Math.max(0, quota - this.used(tenant));
    const grant = this.#counts.get(tenant)?.grant ?? 0;
    return isNew ? fit : Math.min(fit, Math.max(0, grant));
  }

  /** Jobs are admitted. `isFlying`: they are stored later, and {@link landed} says when. */
  admit(tenant: string, jobs: number, isFlying: boolean): void {
    const known = this.#counts.get(tenant);
    if (known !== undefined) {
      known.added += jobs;
      known.grant -= jobs;
    }
    add(this.#admitted, tenant, jobs);
    if (isFlying) add(this.#inFlight, tenant, jobs);
  }

  /** An admitted job is stored, or was not made after all. */
  landed(tenant: string, isMade: boolean): void {
    if (add(this.#inFlight, tenant, -1) <= 0) this.#inFlight.delete(tenant);
    const known = this.#counts.get(tenant);
    if (isMade || known === undefined) return;
    known.added = Math.max(0, known.added - 1);
    add(this.#admitted, tenant, -1);
  }
}

interface Tokens {
  rate: TokenRate;
  held: number;
  takenAt: number;
}

/** The tokens of rates that one process has taken from the store. */
export class TokenPurse {
  readonly #tenants = new Map<string, Tokens>();

  /** Uses up to `wanted` tokens. */
  use(tenant: string, rate: TokenRate, wanted: number, now: number): number {
    const known = this.#tenants.get(tenant);
    if (known === undefined || !isSameRate(known.rate, rate)) return 0;
    if (now - known.takenAt >= TOKENS_AGE_MS_MAX || now < known.takenAt) return 0;
    const used = Math.min(known.held, wanted);
    known.held -= used;
    return used;
  }

  /** The store has given tokens, or a job that had one was not made. */
  put(tenant: string, rate: TokenRate, tokens: number, now: number): void {
    const held = this.use(tenant, rate, Infinity, now);
    forgetOldest(this.#tenants, tenant);
    this.#tenants.set(tenant, { rate, held: held + tokens, takenAt: now });
  }
}

/** The tokens that a process takes from the store at once. */
export function chunkOf({ burst }: TokenRate): number {
  return Math.max(1, Math.floor(burst / GRANT_DIVISOR));
}

/** Takes up to `wanted` whole tokens from a rate. */
export function takeTokens(
  rate: RateState,
  wanted: number,
  now: number,
): { readonly granted: number; readonly left: RateState } {
  const tokens = tokensAt(rate, now);
  const granted = Math.min(wanted, Math.floor(tokens));
  return { granted, left: { ...rate, tokens: tokens - granted, refilledAt: now } };
}

/** How a rate without a whole token refuses a job. */
export function rateExcess(rate: RateState, now: number): QuotaExcess {
  const { count: limit, burst } = rate;
  const used = Math.max(0, Math.ceil(burst - tokensAt(rate, now)));
  return { quota: "rate", limit, used, retryAfterMs: nextTokenMs(rate, now) };
}

/** Null: the payload is short enough. */
export function payloadExcess({ payloadBytes: limit }: Quota, used: number): QuotaExcess | null {
  if (limit === null || used <= limit) return null;
  return { quota: "payloadBytes", limit, used, retryAfterMs: null };
}

function isSameRate(left: TokenRate, right: TokenRate): boolean {
  return left.count === right.count && left.perMs === right.perMs && left.burst === right.burst;
}

function add(counts: Map<string, number>, tenant: string, jobs: number): number {
  const sum = (counts.get(tenant) ?? 0) + jobs;
  counts.set(tenant, sum);
  return sum;
}

/** Makes room for the newest tenant. Answers the tenant that is forgotten. */
function forgetOldest(known: Map<string, unknown>, newest: string): string | null {
  known.delete(newest);
  if (known.size < TENANTS_MAX) return null;
  const [oldest = newest] = known.keys();
  known.delete(oldest);
  return oldest;
}
