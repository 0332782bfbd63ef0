/**
 * The small integers that encode words in both databases. Never renumber: stored rows keep them.
 */
import type { PersonRole } from "../types/tokens.ts";
import type { Breaker } from "../../core/breaker.ts";
import type { ErrorClass, State } from "../../core/job.ts";
import type { OutcomeName, RunFacts } from "../../core/outcome.ts";
import type { LogLevel, UnitRecord } from "../types/notes.ts";
import type { DeadLetterRecord, EventKind } from "../types/records.ts";
import type { ScheduleRecord, TickOutcome } from "../types/schedules.ts";
import type { TokenKind } from "../types/tokens.ts";

export interface Codec<Word extends string> {
  readonly code: Readonly<Record<Word, number>>;
  word(code: number): Word;
}

export const stateCodec: Codec<State> = codec({
  scheduled: 1,
  queued: 2,
  running: 3,
  completed: 4,
  completed_with_errors: 5,
  failed: 6,
  cancelled: 7,
});

export const outcomeCodec: Codec<OutcomeName> = codec({
  succeeded: 1,
  failed: 2,
  timed_out: 3,
  crashed: 4,
  cancelled: 5,
  interrupted: 6,
  snoozed: 7,
});

export const errorClassCodec: Codec<ErrorClass> = codec({
  transient: 1,
  retryable: 2,
  non_retryable: 3,
  rate_limited: 4,
});

export const eventCodec: Codec<EventKind> = codec({
  "job:enqueued": 1,
  "job:started": 2,
  "job:completed": 3,
  "job:retrying": 4,
  "job:failed": 5,
  "job:cancelled": 6,
  "job:deleted": 7,
  "job:progress": 8,
  "job:phase:completed": 9,
  "job:stale": 10,
  "job:unit": 11,
});

export const nameCodec: Codec<"type" | "tenant" | "lane" | "category" | "service" | "park"> = codec(
  {
    type: 1,
    tenant: 2,
    lane: 3,
    category: 4,
    service: 5,
    // A tenant whose calls of a service have to wait: the id of the tenant, a dot, the service.
    park: 6,
  },
);

export type NameKind = keyof typeof nameCodec.code;

export const deadLetterCodec: Codec<DeadLetterRecord["status"]> = codec({
  pending_review: 1,
  acknowledged: 2,
  reprocessed: 3,
  discarded: 4,
});

export const unitCodec: Codec<UnitRecord["state"]> = codec({
  planned: 0,
  running: 1,
  completed: 2,
  failed: 3,
});

export const breakerCodec: Codec<Breaker["state"]> = codec({ closed: 1, open: 2, half_open: 3 });

export const logLevelCodec: Codec<LogLevel> = codec({ debug: 1, info: 2, warn: 3, error: 4 });

export const tokenKindCodec: Codec<TokenKind> = codec({
  person: 1,
  producer: 2,
  worker: 3,
  stream: 4,
  session: 5,
});

export const ownerCodec: Codec<ScheduleRecord["owner"]> = codec({ code: 1, operator: 2 });

export const overlapCodec: Codec<ScheduleRecord["overlap"]> = codec({
  queue: 1,
  skip: 2,
  replace: 3,
});

export const tickCodec: Codec<TickOutcome> = codec({
  made: 1,
  skipped: 2,
  replaced: 3,
  missed: 4,
  duplicate: 5,
  refused: 6,
  run_now: 7,
  intake_closed: 8,
  over_quota: 9,
});

/** Bits of `api_token.roles`. */
const ROLE_BITS: Readonly<Record<PersonRole, number>> = {
  viewer: 1,
  operator: 2,
  manager: 4,
  admin: 8,
};
const ROLES: readonly PersonRole[] = ["viewer", "operator", "manager", "admin"];

export function roleBits(roles: readonly PersonRole[]): number {
  return roles.reduce((bits, role) => bits | ROLE_BITS[role], 0);
}

/** From the least role to the greatest. */
export function rolesOfBits(bits: number): readonly PersonRole[] {
  return ROLES.filter((role) => (bits & ROLE_BITS[role]) !== 0);
}

/** Values of `blocked.gate` besides names of closed gates: waits for dependencies, or for a key. */
export const GATE_AFTER = 0;
export const GATE_KEY = -1;
/** The gate of the whole installation. No job is moved behind it. */
export const GATE_INSTALLATION = -2;
/** The name of that gate: an installation has one. */
export const INSTALLATION_NAME = "all";

/** The gates of limits are below the gate of the installation. */
const LIMIT_GATES = GATE_INSTALLATION - 1;

/** The value of `blocked.gate` for jobs that wait for a limit, by the name of the limit. */
export function limitGate(name: number): number {
  return LIMIT_GATES - name;
}

/** The name of the limit that a job in `blocked` waits for; null: it waits for something else. */
export function limitOfGate(gate: number): number | null {
  return gate <= LIMIT_GATES ? LIMIT_GATES - gate : null;
}

export const limitOwnerCodec: Codec<"code" | "operator"> = codec({ code: 1, operator: 2 });

/** Bits of `job.flags`. */
const FLAG_FAIL_ORPHAN = 1;
const FLAG_SUPERVISED = 2;

type FlaggedPolicy = Pick<RunFacts, "onOrphan" | "retryOwner">;

export function flagsOf({ onOrphan, retryOwner }: FlaggedPolicy): number {
  const orphan = onOrphan === "fail" ? FLAG_FAIL_ORPHAN : 0;
  return orphan | (retryOwner === "supervisor" ? FLAG_SUPERVISED : 0);
}

export function policyOfFlags(flags: number): FlaggedPolicy {
  return {
    onOrphan: (flags & FLAG_FAIL_ORPHAN) === 0 ? "retry" : "fail",
    retryOwner: (flags & FLAG_SUPERVISED) === 0 ? "queue" : "supervisor",
  };
}

export function codec<Word extends string>(code: Readonly<Record<Word, number>>): Codec<Word> {
  const words = new Map<number, Word>();
  for (const word in code) words.set(code[word], word);
  return {
    code,
    word(number) {
      const word = words.get(number);
      if (word === undefined) throw new RangeError(`unknown code ${number}`);
      return word;
    },
  };
}

/** Stands for an interned name whose row is missing. `millrace doctor --fix` inserts it. */
export function unknownName(id: number): string {
  return `unknown name ${id}`;
}
