/**
 * The store with one fault in it. For each, the suite of its verb must fail: a suite that stays
 * green when the fence, a limit or an order is gone proves nothing. `scripts/show/mutants.ts` tries
 * them all.
 */
import { POSTGRES_BAD_ROW_FAULTS, SQLITE_BAD_ROW_FAULTS } from "./bad-rows.ts";
import { POSTGRES_AUDIT_FAULTS, SQLITE_AUDIT_FAULTS } from "./audit.ts";
import { POSTGRES_CROWD_FAULTS, SQLITE_CROWD_FAULTS } from "./crowds.ts";
import { POSTGRES_COMMIT_FAULTS } from "./postgres-commits.ts";
import { POSTGRES_CRASH_FAULTS } from "./postgres-crashes.ts";
import { POSTGRES_AHEAD_FAULTS, SQLITE_AHEAD_FAULTS } from "./control/ahead.ts";
import { POSTGRES_CODE_FAULTS, SQLITE_CODE_FAULTS } from "./control/code.ts";
import { POSTGRES_DRAIN_FAULTS, SQLITE_DRAIN_FAULTS } from "./control/drain.ts";
import { POSTGRES_FUNCTION_FAULTS, SQLITE_FUNCTION_FAULTS } from "./control/functions.ts";
import { POSTGRES_INTAKE_FAULTS, SQLITE_INTAKE_FAULTS } from "./control/intakes.ts";
import {
  POSTGRES_PAYLOAD_RULE_FAULTS,
  SQLITE_PAYLOAD_RULE_FAULTS,
} from "./control/payload-rules.ts";
import { POSTGRES_LETTER_FAULTS, SQLITE_LETTER_FAULTS } from "./control/letters.ts";
import { POSTGRES_QUOTA_FAULTS, SQLITE_QUOTA_FAULTS } from "./control/quotas.ts";
import {
  POSTGRES_LIST_CONTENT_FAULTS,
  SQLITE_LIST_CONTENT_FAULTS,
} from "./control/list-content.ts";
import { POSTGRES_LONG_RUN_FAULTS, SQLITE_LONG_RUN_FAULTS } from "./control/long-runs.ts";
import { POSTGRES_FLOW_FAULTS } from "./postgres-flows.ts";
import { POSTGRES_LIMIT_FAULTS, SQLITE_LIMIT_FAULTS } from "./control/limits.ts";
import { POSTGRES_OPERATION_FAULTS, SQLITE_OPERATION_FAULTS } from "./control/operations.ts";
import { POSTGRES_FAILURE_FAULTS, SQLITE_FAILURE_FAULTS } from "./control/failures.ts";
import { POSTGRES_FAIRNESS_FAULTS, SQLITE_FAIRNESS_FAULTS } from "./control/fairness.ts";
import { POSTGRES_FAULTS } from "./postgres.ts";
import { POSTGRES_MINUTE_FAULTS, SQLITE_MINUTE_FAULTS } from "./minutes.ts";
import { POSTGRES_NOTE_FAULTS } from "./postgres-notes.ts";
import { POSTGRES_RUN_FAULTS } from "./postgres-runs.ts";
import { POSTGRES_PROTOCOL_FAULTS, SQLITE_PROTOCOL_FAULTS } from "./protocol.ts";
import { SQLITE_CRASH_FAULTS } from "./sqlite-crashes.ts";
import { SQLITE_FLOW_FAULTS } from "./sqlite-flows.ts";
import { SQLITE_LIST_FAULTS } from "./sqlite-lists.ts";
import { SQLITE_FAULTS } from "./sqlite.ts";
import { SQLITE_NOTE_FAULTS } from "./sqlite-notes.ts";
import { SQLITE_RENEW_FAULTS } from "./sqlite-renew.ts";
import { SQLITE_WORKER_FAULTS } from "./sqlite-workers.ts";
import { POSTGRES_SAVED_VIEW_FAULTS, SQLITE_SAVED_VIEW_FAULTS } from "./control/saved-views.ts";
import { POSTGRES_SCHEDULE_FAULTS, SQLITE_SCHEDULE_FAULTS } from "./control/schedules.ts";
import { POSTGRES_SERVICE_FAULTS, SQLITE_SERVICE_FAULTS } from "./control/services.ts";
import { POSTGRES_TOKEN_FAULTS, SQLITE_TOKEN_FAULTS } from "./tokens.ts";

export interface Mutant {
  /** The `describe` that must notice. */
  readonly verb: string;
  /** A named query of the store, one of its files, or a file below `sql/<dialect>`. */
  readonly place: string;
  /** What is wrong. */
  readonly mutant: string;
  /** A text that occurs once in that place, and what stands there instead. */
  readonly replace: readonly [from: string, to: string];
}

type Fault = readonly [mutant: string, from: string, to: string];

/** By verb, then by place. */
export type Faults = Readonly<Record<string, Readonly<Record<string, readonly Fault[]>>>>;

/** The mutants of each store. */
export const mutants: Readonly<Record<"sqlite" | "postgres", readonly Mutant[]>> = {
  sqlite: [
    SQLITE_FAULTS,
    SQLITE_LIST_FAULTS,
    SQLITE_RENEW_FAULTS,
    SQLITE_WORKER_FAULTS,
    SQLITE_NOTE_FAULTS,
    SQLITE_FLOW_FAULTS,
    SQLITE_CROWD_FAULTS,
    SQLITE_CRASH_FAULTS,
    SQLITE_BAD_ROW_FAULTS,
    SQLITE_PROTOCOL_FAULTS,
    SQLITE_TOKEN_FAULTS,
    SQLITE_MINUTE_FAULTS,
    SQLITE_SCHEDULE_FAULTS,
    SQLITE_AHEAD_FAULTS,
    SQLITE_DRAIN_FAULTS,
    SQLITE_CODE_FAULTS,
    SQLITE_LETTER_FAULTS,
    SQLITE_SERVICE_FAULTS,
    SQLITE_LIMIT_FAULTS,
    SQLITE_FAILURE_FAULTS,
    SQLITE_OPERATION_FAULTS,
    SQLITE_FAIRNESS_FAULTS,
    SQLITE_INTAKE_FAULTS,
    SQLITE_PAYLOAD_RULE_FAULTS,
    SQLITE_QUOTA_FAULTS,
    SQLITE_LONG_RUN_FAULTS,
    SQLITE_LIST_CONTENT_FAULTS,
    SQLITE_SAVED_VIEW_FAULTS,
    SQLITE_AUDIT_FAULTS,
    SQLITE_FUNCTION_FAULTS,
  ].flatMap(mutantsOf),
  postgres: [
    POSTGRES_FAULTS,
    POSTGRES_RUN_FAULTS,
    POSTGRES_NOTE_FAULTS,
    POSTGRES_FLOW_FAULTS,
    POSTGRES_CROWD_FAULTS,
    POSTGRES_CRASH_FAULTS,
    POSTGRES_BAD_ROW_FAULTS,
    POSTGRES_COMMIT_FAULTS,
    POSTGRES_PROTOCOL_FAULTS,
    POSTGRES_TOKEN_FAULTS,
    POSTGRES_MINUTE_FAULTS,
    POSTGRES_SCHEDULE_FAULTS,
    POSTGRES_AHEAD_FAULTS,
    POSTGRES_DRAIN_FAULTS,
    POSTGRES_CODE_FAULTS,
    POSTGRES_LETTER_FAULTS,
    POSTGRES_SERVICE_FAULTS,
    POSTGRES_LIMIT_FAULTS,
    POSTGRES_FAILURE_FAULTS,
    POSTGRES_OPERATION_FAULTS,
    POSTGRES_FAIRNESS_FAULTS,
    POSTGRES_INTAKE_FAULTS,
    POSTGRES_PAYLOAD_RULE_FAULTS,
    POSTGRES_QUOTA_FAULTS,
    POSTGRES_LONG_RUN_FAULTS,
    POSTGRES_LIST_CONTENT_FAULTS,
    POSTGRES_SAVED_VIEW_FAULTS,
    POSTGRES_AUDIT_FAULTS,
    POSTGRES_FUNCTION_FAULTS,
  ].flatMap(mutantsOf),
};

function mutantsOf(faults: Faults): Mutant[] {
  return Object.entries(faults).flatMap(([verb, places]) =>
    Object.entries(places).flatMap(([place, list]) =>
      list.map(([mutant, ...replace]) => ({ verb, place, mutant, replace })),
    ),
  );
}
