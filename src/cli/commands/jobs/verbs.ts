/** `millrace jobs cancel|retry|fail|release|delete|priority|reschedule`: acts on jobs. */
import type { Command } from "commander";
import type { JobView } from "../../../api/client.ts";
import type { ActedBy } from "../../../api/control/audit.ts";
import type { JobBulkAction } from "../../../api/control/operations.ts";
import type { OperatorMill } from "../../operator-mill.ts";
import { CommandFailure, EXIT } from "../../terminal/exit-codes.ts";
import {
  actorOption,
  databaseOption,
  durationOption,
  outputOption,
  parsePriority,
  serverOption,
} from "../../terminal/options.ts";
import { json, type Format } from "../../terminal/output.ts";
import { given, systemUser, withChangedJob, withExistingMill, type Shell } from "../../shell.ts";
import {
  checkRange,
  JOB_FILTERS,
  jobFilterOf,
  withJobFilter,
  type JobFilterOptions,
} from "../bulk/job-filter.ts";
import { isBulk, runBulk, withBulkOptions, type BulkOptions } from "../bulk/run.ts";

interface JobVerbOptions {
  readonly db: string;
  readonly output: Format;
  readonly by: string;
}

/** The result of a verb: as JSON, and as a sentence. */
interface Answer {
  readonly facts: object;
  readonly sentence: string;
}

type JobVerb<Given extends JobVerbOptions> = (
  mill: OperatorMill,
  id: string,
  options: Given,
) => Promise<Answer>;

export function declareJobVerbs(jobs: Command, shell: Shell): void {
  declareMany(jobs, shell, "cancel", cancel, () => ({ action: "cancel" })).description(
    "Cancel a waiting job, or ask a running job to stop; with --where, many.",
  );
  declareMany(jobs, shell, "retry", retry, retryMany)
    .description("Run a waiting job now; repeat a finished job as a new, linked job.")
    .option("--restart", "repeat also the completed phases and units");
  declare(jobs, shell, "fail", fail)
    .description("End a job as failed, with a dead letter.")
    .option("--message <text>", "the error message, for the record", "failed by hand")
    .option("--retry", "count a failed attempt, and retry the job if any attempt is left");
  declare(jobs, shell, "release", release)
    .description("Take a job away from a dead or stuck worker and queue it again, uncharged.")
    .option("--force", "also from a worker whose lease is alive")
    .option("--reason <text>", "the reason, for the audit");
  declareMany(jobs, shell, "delete", null, () => ({ action: "delete" })).description(
    "Delete finished jobs before retention does. Dead letters stay.",
  );
  declareMany(jobs, shell, "priority", prioritise, priorityOf)
    .description("Give waiting jobs another priority, for their next start.")
    .requiredOption("--to <level>", "critical, high, normal, low or a number", parsePriority);
  declareMany(jobs, shell, "reschedule", reschedule, (options) => ({
    action: "reschedule",
    ...dueOf(options),
  }))
    .description("Make waiting jobs due at another time.")
    .addOption(durationOption("--delay <time>", "after this time, such as 2h"))
    .option("--run-at <time>", "at this time, such as 2026-12-24T18:00:00Z");
}

function declare<Given extends JobVerbOptions>(
  jobs: Command,
  { terminal, end }: Shell,
  name: string,
  verb: JobVerb<Given>,
): Command {
  return jobs
    .command(`${name} <id>`)
    .addOption(databaseOption())
    .addOption(serverOption())
    .addOption(actorOption("the person, for the audit", systemUser()))
    .addOption(outputOption())
    .action(async (id: string, options: Given) => {
      const { facts, sentence } = await withChangedJob(options.db, id, (mill, job) =>
        verb(mill, job, options),
      );
      terminal.out(options.output === "json" ? json(facts) : `${sentence}\n`);
      end(EXIT.success);
    });
}

/** What only some verbs have. */
interface ManyOptions extends JobVerbOptions, JobFilterOptions, BulkOptions {
  readonly by: string;
  readonly reason?: string;
  readonly restart?: boolean;
  readonly to?: number | string;
  readonly delay?: number;
  readonly runAt?: string;
}

/** A verb about one job, or with `--where` about many. Without `one`, one job is many of one. */
function declareMany(
  jobs: Command,
  { terminal, end }: Shell,
  name: string,
  one: JobVerb<ManyOptions> | null,
  actionOf: (options: ManyOptions) => JobBulkAction,
): Command {
  return withJobFilter(withBulkOptions(jobs.command(`${name} [id]`)))
    .option("--reason <text>", "the reason, for the record; needed with --where")
    .addOption(actorOption("with --where: the person, for the record", systemUser()))
    .addOption(databaseOption())
    .addOption(serverOption())
    .addOption(outputOption())
    .action(async (id: string | undefined, options: ManyOptions, command: Command) => {
      const by = { actor: options.by, reason: options.reason };
      if (isBulk(id, options, JOB_FILTERS, command)) {
        checkRange(options);
        const code = await withExistingMill(options.db, async (mill) => {
          const request = { ...actionOf(options), jobs: await jobFilterOf(mill, options) };
          return runBulk(mill, request, by, options, terminal);
        });
        return end(code);
      }
      if (one === null) {
        const code = await withChangedJob(options.db, id ?? "", (mill, job) =>
          runBulk(
            mill,
            { ...actionOf(options), ids: [job] },
            { ...by, reason: options.reason ?? `${name} by hand` },
            { ...options, yes: true },
            terminal,
          ),
        );
        return end(code);
      }
      const { facts, sentence } = await withChangedJob(options.db, id ?? "", (mill, job) =>
        one(mill, job, options),
      );
      terminal.out(options.output === "json" ? json(facts) : `${sentence}\n`);
      end(EXIT.success);
    });
}

function retryMany({ restart }: ManyOptions): JobBulkAction {
  if (restart !== true) return { action: "retry" };
  throw new CommandFailure("--restart goes with an id, not with --where.", {
    hint: "Retry single jobs with --restart.",
    exitCode: EXIT.usage,
  });
}

function priorityOf({ to }: ManyOptions): JobBulkAction & { readonly action: "priority" } {
  // The client checks the name.
  const priority: any = to;
  return { action: "priority", priority };
}

async function prioritise(mill: OperatorMill, id: string, options: ManyOptions): Promise<Answer> {
  const { priority } = priorityOf(options);
  const job = await mill.jobs.setPriority(id, priority, actOf(options));
  return { facts: job, sentence: `${job.id} has priority ${options.to}.` };
}

async function reschedule(mill: OperatorMill, id: string, options: ManyOptions): Promise<Answer> {
  return now(await mill.jobs.reschedule(id, dueOf(options), actOf(options)));
}

function actOf({ by: actor, reason }: ManyOptions): ActedBy {
  return given({ actor, reason });
}

function dueOf({
  delay,
  runAt,
}: Pick<ManyOptions, "delay" | "runAt">): { delay: number } | { runAt: string } {
  if (delay !== undefined && runAt === undefined) return { delay };
  if (delay === undefined && runAt !== undefined) return { runAt };
  throw new CommandFailure("Give either --delay or --run-at.", {
    hint: "For example: --delay 2h",
    exitCode: EXIT.usage,
  });
}

async function cancel(
  mill: OperatorMill,
  id: string,
  { reason, by: actor }: Pick<ManyOptions, "reason" | "by">,
): Promise<Answer> {
  const job = await mill.jobs.cancel(id, reason, { actor });
  if (job.state === "cancelled") return now(job);
  return { facts: job, sentence: `${job.id} is ${job.state} and has been asked to stop.` };
}

async function retry(
  mill: OperatorMill,
  id: string,
  options: Pick<ManyOptions, "restart" | "reason" | "by">,
): Promise<Answer> {
  const { restart, reason, by: actor } = options;
  const before = await mill.jobs.get(id);
  const job = await mill.jobs.retry(id, {
    restart: restart === true,
    ...given({ actor, reason }),
  });
  if (job.id === before.id) return { facts: job, sentence: `${job.id} is ${job.state}.` };
  const verb = job.created ? "repeats" : "repeats already";
  return { facts: job, sentence: `${job.id} ${verb} ${before.id}.` };
}

async function fail(
  mill: OperatorMill,
  id: string,
  options: JobVerbOptions & { readonly message: string; readonly retry?: boolean },
): Promise<Answer> {
  const { message, retry: again, by: actor } = options;
  return now(await mill.jobs.fail(id, message, { retry: again === true, actor }));
}

async function release(
  mill: OperatorMill,
  id: string,
  options: JobVerbOptions & { readonly force?: boolean; readonly reason?: string },
): Promise<Answer> {
  const { force, reason, by: actor } = options;
  return now(await mill.jobs.release(id, { force: force === true, ...given({ actor, reason }) }));
}

function now(job: JobView): Answer {
  return { facts: job, sentence: `${job.id} is ${job.state}.` };
}
