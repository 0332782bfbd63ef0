/** The options that choose jobs, for `jobs list` and for actions on many jobs. */
import type { Command } from "commander";
import type { CountFilter } from "../../../api/control/job-filter.ts";
import type { State } from "../../../core/job.ts";
import { jobIdOf } from "../../job-id.ts";
import type { OperatorMill } from "../../operator-mill.ts";
import { given } from "../../shell.ts";
import { CommandFailure, EXIT } from "../../terminal/exit-codes.ts";
import {
  durationOption,
  parsePast,
  parsePath,
  parseStates,
  parseTag,
} from "../../terminal/options.ts";

export interface JobFilterOptions {
  readonly state?: readonly (State | "pending")[];
  readonly type?: string;
  readonly tenant?: string;
  readonly category?: string;
  readonly lane?: string;
  readonly error?: string;
  readonly payload?: Readonly<Record<string, string>>;
  readonly text?: string;
  readonly correlation?: string;
  readonly parent?: string;
  readonly tag?: Readonly<Record<string, string>>;
  readonly since?: Date;
  readonly until?: Date;
  readonly runningLongerThan?: number;
}

/** The names of these options, as the parser knows them. */
export const JOB_FILTERS: readonly (keyof JobFilterOptions)[] = [
  "state",
  "type",
  "tenant",
  "category",
  "lane",
  "error",
  "payload",
  "text",
  "correlation",
  "parent",
  "tag",
  "since",
  "until",
  "runningLongerThan",
];

export function withJobFilter(command: Command): Command {
  return command
    .option(
      "--state <states>",
      "in one of these states, separated by commas; pending means scheduled or queued",
      parseStates,
    )
    .option("--type <name>", "of this type")
    .option("--tenant <name>", "of this tenant")
    .option("--category <name>", "of this category")
    .option("--lane <name>", "of this lane")
    .option("--error <text>", "whose last error has this in its message, name or class")
    .option("--payload <path=value>", "with this value in the payload: user.id=42", parsePath)
    .option("--text <text>", "with this part in the JSON text of the payload")
    .option("--correlation <id>", "with this correlation id")
    .option("--parent <id>", "enqueued by the handler of this job")
    .option("--tag <name=value>", "with this tag; may be given several times", parseTag)
    .option("--since <time>", "created since this time, such as 2h (ago) or 2026-11-15", parsePast)
    .option("--until <time>", "created before this time", parsePast)
    .addOption(durationOption("--running-longer-than <time>", "running for longer, such as 30m"));
}

/** An empty range of time is a mistake. */
export function checkRange({ since, until }: JobFilterOptions): void {
  if (since === undefined || until === undefined || since < until) return;
  const [from, to] = [since.toISOString(), until.toISOString()];
  throw new CommandFailure(`--since ${from} is not before --until ${to}: no job can match.`, {
    hint: "Give the earlier time to --since. A duration means so long ago: 2h is before 1h.",
    exitCode: EXIT.usage,
  });
}

export async function jobFilterOf(
  mill: OperatorMill,
  options: JobFilterOptions,
): Promise<CountFilter> {
  const { state, type, tenant, category, tag: tags, runningLongerThan } = options;
  const { correlation: correlationId, parent, since: createdAfter, until: createdBefore } = options;
  const parentId = parent === undefined ? undefined : await jobIdOf(mill, parent);
  const names = { type, tenant, category, correlationId, parentId, tags };
  const { lane, error, payload, text } = options;
  return given({
    state,
    ...names,
    lane,
    error,
    payload,
    text,
    createdAfter,
    createdBefore,
    runningLongerThan,
  });
}
