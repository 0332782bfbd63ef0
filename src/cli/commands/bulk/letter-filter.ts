/** The options that choose dead letters, for `dlq list` and for actions on many of them. */
import { Option, type Command } from "commander";
import type { DeadLetterCountFilter, DeadLetterStatus } from "../../../api/control/letters.ts";
import { given } from "../../shell.ts";
import { parsePast } from "../../terminal/options.ts";

export interface LetterFilterOptions {
  readonly status?: DeadLetterStatus;
  readonly type?: string;
  readonly tenant?: string;
  readonly category?: string;
  readonly errorClass?: NonNullable<DeadLetterCountFilter["errorClass"]>;
  readonly cause?: string;
  readonly correlation?: string;
  readonly assignedTo?: string;
  readonly since?: Date;
  readonly until?: Date;
}

/** The names of these options, as the parser knows them. */
export const LETTER_FILTERS: readonly (keyof LetterFilterOptions)[] = [
  "status",
  "type",
  "tenant",
  "category",
  "errorClass",
  "cause",
  "correlation",
  "assignedTo",
  "since",
  "until",
];

const STATUSES: readonly DeadLetterStatus[] = [
  "pending_review",
  "acknowledged",
  "reprocessed",
  "discarded",
];

const CLASSES = ["transient", "retryable", "non_retryable", "rate_limited"] as const;

export function withLetterFilter(command: Command): Command {
  return command
    .addOption(new Option("--status <status>", "with this status").choices(STATUSES))
    .option("--type <name>", "of this type")
    .option("--tenant <name>", "of this tenant")
    .option("--category <name>", "of this category")
    .addOption(new Option("--error-class <class>", "with an error of this class").choices(CLASSES))
    .option("--cause <cause>", "with this cause")
    .option("--correlation <id>", "with this correlation id")
    .option("--assigned-to <name>", "assigned to this person")
    .option("--since <time>", "whose job was created since this time, such as 2h", parsePast)
    .option("--until <time>", "whose job was created before this time", parsePast);
}

export function letterFilterOf(options: LetterFilterOptions): DeadLetterCountFilter {
  const { status, type, tenant, category, errorClass, cause, correlation, assignedTo } = options;
  const { since, until } = options;
  return given({
    status,
    type,
    tenant,
    category,
    errorClass,
    cause,
    assignedTo,
    correlationId: correlation,
    createdAfter: since,
    createdBefore: until,
  });
}
