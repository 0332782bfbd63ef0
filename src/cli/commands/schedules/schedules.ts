/** `millrace schedules`: lists and changes what enqueues jobs by the clock. */
import { Option, type Command } from "commander";
import { defineJob } from "../../../api/define.ts";
import type { EnqueueOptions } from "../../../api/enqueue.ts";
import { schedule, type Timing, type TimingChange } from "../../../api/schedule.ts";
import type { ScheduleView, TickView } from "../../../api/schedule.ts";
import type { Json } from "../../../core/payload.ts";
import { nextSlots } from "../../../core/cron/plan.ts";
import { cronSentence } from "../../../core/cron/sentence.ts";
import { bareContract } from "../../../jobs/stored-type.ts";
import { timingOf } from "../../../jobs/schedule-spec.ts";
import { systemClock } from "../../../lib/system.ts";
import { EXIT } from "../../terminal/exit-codes.ts";
import {
  actorOption,
  databaseOption,
  isServerUrl,
  limitOption,
  outputOption,
  parseJson,
  parsePast,
  parsePriority,
  parseTag,
  reasonOption,
  serverOption,
} from "../../terminal/options.ts";
import { json, properties, table, timeOf, type Format } from "../../terminal/output.ts";
import { parseCount } from "../services/types.ts";
import { given, systemUser, withExistingMill, type Shell } from "../../shell.ts";

interface Common {
  readonly db: string;
  readonly output: Format;
  readonly by: string;
}

interface TimingOptions {
  readonly timeZone?: string;
  readonly missed?: string;
  readonly overlap?: NonNullable<Timing["overlap"]>;
  readonly jitter?: NonNullable<Timing["jitter"]>;
  readonly start?: string;
  readonly end?: string;
}

interface ChangeOptions extends Common {
  readonly reason?: string;
}

interface CreateOptions extends ChangeOptions, TimingOptions {
  readonly payload?: Json;
  readonly tenant?: string;
  readonly priority?: NonNullable<EnqueueOptions["priority"]>;
  readonly maxAttempts?: number;
  readonly key?: string;
  readonly tag?: Readonly<Record<string, string>>;
}

/** False removes a start or an end. */
interface UpdateOptions extends ChangeOptions, Omit<TimingOptions, "start" | "end"> {
  readonly cron?: string;
  readonly start?: string | false;
  readonly end?: string | false;
}

const NEXT_RUNS = 5;

export function declareSchedules(program: Command, shell: Shell): void {
  const schedules = program
    .command("schedules")
    .description("List and change what enqueues jobs by the clock.")
    .addHelpText("after", HELP_AFTER);
  declareList(schedules, shell);
  declareShow(schedules, shell);
  declareHistory(schedules, shell);
  declareCreate(schedules, shell);
  declareUpdate(schedules, shell);
  declarePause(schedules, shell);
  declareResume(schedules, shell);
  declareRun(schedules, shell);
  declareRemove(schedules, shell);
  declareNext(schedules, shell);
}

const HELP_AFTER = `
Schedules that code declares (work({ schedules })) are changed in the code. They can be paused,
resumed and run here; a pause survives deploys.

Examples:
  millrace schedules list
  millrace schedules history nightly --limit 100
  millrace schedules create nightly "0 3 * * *" cleanup --time-zone Europe/Berlin
  millrace schedules update nightly --cron "0 4 * * *" --no-end
  millrace schedules pause nightly "the disk is full"
  millrace schedules next "*/15 8-17 * * mon-fri" --time-zone Asia/Tokyo
`;

function declareList(parent: Command, { terminal, end }: Shell): void {
  common(parent.command("list"))
    .description("Show schedules with their next run.")
    .option("--tenant <name>", "whose jobs are of this tenant")
    .addOption(limitOption())
    .option("--after <name>", "continue after this schedule")
    .action(async (options: Common & { tenant?: string; limit: number; after?: string }) => {
      const { db, output, tenant, limit, after } = options;
      const found = await withExistingMill(db, (mill) =>
        mill.schedules.list(given({ tenant, limit, after })),
      );
      if (output === "json") terminal.out(json(found));
      else if (found.length > 0) terminal.out(tableOf(found));
      else terminal.err("No schedules.\n");
      end(EXIT.success);
    });
}

function tableOf(schedules: readonly ScheduleView[]): string {
  return table(
    ["NAME", "WHEN", "TYPE", "OWNER", "STATE", "NEXT", "LAST"],
    schedules.map((each) => [
      each.name,
      each.description,
      each.type,
      each.owner,
      stateOf(each),
      timeOf(each.nextRuns[0] ?? null) ?? "-",
      timeOf(each.lastTick) ?? "-",
    ]),
  );
}

function stateOf({ pausedAt, isDeclared, nextRuns }: ScheduleView): string {
  if (pausedAt !== null) return "paused";
  if (!isDeclared) return "undeclared";
  return nextRuns.length === 0 ? "ended" : "active";
}

function declareShow(parent: Command, { terminal, end }: Shell): void {
  common(parent.command("show <name>"))
    .description("Show a schedule, its next runs and its last ticks.")
    .action(async (name: string, { db, output }: Common) => {
      const { found, ticks } = await withExistingMill(db, async (mill) => ({
        found: await mill.schedules.get(name),
        ticks: await mill.schedules.history(name, { limit: 10 }),
      }));
      terminal.out(output === "json" ? json({ ...found, ticks }) : shown(found, ticks));
      end(EXIT.success);
    });
}

function shown(each: ScheduleView, ticks: readonly TickView[]): string {
  const { missed } = each;
  const sheet = properties([
    ["name", each.name],
    ["when", each.description],
    ["cron", each.cron],
    ["time zone", each.timeZone],
    ["missed", typeof missed === "string" ? missed : `all up to ${missed.all}`],
    ["overlap", each.overlap],
    ["jitter", `${each.jitterMs} ms`],
    ["start", timeOf(each.start)],
    ["end", timeOf(each.end)],
    ["job", each.type],
    ["tenant", each.tenant],
    ["owner", each.owner],
    ["state", stateOf(each)],
    ["paused", timeOf(each.pausedAt)],
    ["paused by", each.pausedBy],
    ["pause reason", each.pauseReason],
    ...each.nextRuns.map((run): [string, string | null] => ["next run", timeOf(run)]),
    ["last job", each.lastJobId],
  ]);
  if (ticks.length === 0) return sheet;
  const rows = ticks.map(({ slot, outcome, jobId }) => [timeOf(slot) ?? "", outcome, jobId ?? "-"]);
  return `${sheet}\n${table(["TICK", "OUTCOME", "JOB"], rows)}`;
}

function declareHistory(parent: Command, { terminal, end }: Shell): void {
  common(parent.command("history <name>"))
    .description("Show what came of the ticks of a schedule, newest first.")
    .addOption(limitOption())
    .addOption(beforeOption())
    .action(async (name: string, options: Common & { limit: number; before?: Date }) => {
      const { db, output, limit, before } = options;
      const ticks = await withExistingMill(db, (mill) =>
        mill.schedules.history(name, given({ limit, before })),
      );
      if (output === "json") terminal.out(json(ticks));
      else if (ticks.length > 0) terminal.out(historyOf(ticks));
      else terminal.err("No ticks.\n");
      end(EXIT.success);
    });
}

function beforeOption(): Option {
  const meaning = "only ticks before this time: so long ago, as 2h, or ISO text";
  return new Option("--before <time>", meaning).argParser(parsePast);
}

function historyOf(ticks: readonly TickView[]): string {
  return table(
    ["TICK", "OUTCOME", "JOB", "AT"],
    ticks.map(({ slot, outcome, jobId, at }) => [
      timeOf(slot) ?? "",
      outcome,
      jobId ?? "-",
      timeOf(at) ?? "",
    ]),
  );
}

function declareCreate(parent: Command, { terminal, end }: Shell): void {
  timed(common(parent.command("create <name> <cron> <type>")))
    .description("Store a schedule that no code declares.")
    .addOption(new Option("--payload <json>", "payload of its jobs").argParser(parseJson))
    .option("--tenant <name>", "tenant of its jobs")
    .option("--priority <level>", "critical, high, normal, low or a number", parsePriority)
    .option("--max-attempts <number>", "attempts of its jobs", parseCount)
    .option("--key <name>", "concurrency key: of the jobs with this key, one runs at a time")
    .option("--tag <name=value>", "a tag of its jobs; may be given several times", parseTag)
    .addOption(reasonOption())
    .action(async (name: string, cron: string, type: string, options: CreateOptions) => {
      const { db, output, payload, by: actor, reason } = options;
      const when = { cron, ...timing(options) };
      const stored = await withExistingMill(db, async (mill) => {
        // A server knows what its workers have declared.
        const declared = isServerUrl(db) ? null : await mill.types.get(type);
        const contract = bareContract({ type, payload }, declared);
        const made = schedule(name, when, contract, payload, jobOptions(options));
        return mill.schedules.create(made, given({ actor, reason }));
      });
      terminal.out(output === "json" ? json(stored) : sentence(stored));
      end(EXIT.success);
    });
}

function jobOptions({ tenant, priority, maxAttempts, key, tag }: CreateOptions): EnqueueOptions {
  return given({ tenant, priority, maxAttempts, concurrencyKey: key, tags: tag });
}

function declareUpdate(parent: Command, { terminal, end }: Shell): void {
  timed(common(parent.command("update <name>")))
    .description("Change the time of a schedule; what is not named stays.")
    .option("--cron <expression>", 'another expression, such as "0 4 * * *"')
    .option("--no-start", "remove the start")
    .option("--no-end", "remove the end")
    .addOption(reasonOption())
    .action(async (name: string, options: UpdateOptions) => {
      const { db, output, cron, by: actor, reason } = options;
      const when = { ...given({ cron }), ...timing(options) };
      const stored = await withExistingMill(db, (mill) =>
        mill.schedules.update(name, when, given({ actor, reason })),
      );
      terminal.out(output === "json" ? json(stored) : sentence(stored));
      end(EXIT.success);
    });
}

function sentence({ name, description, nextRuns }: ScheduleView): string {
  return `${name}: ${description}; next ${timeOf(nextRuns[0] ?? null) ?? "never"}.\n`;
}

function declarePause(parent: Command, { terminal, end }: Shell): void {
  common(parent.command("pause <name> <reason>"))
    .description("Make no jobs of a schedule until it is resumed.")
    .action(async (name: string, reason: string, { db, output, by: actor }: Common) => {
      await withExistingMill(db, (mill) => mill.schedules.pause(name, reason, { actor }));
      const isJson = output === "json";
      terminal.out(isJson ? json({ name, isPaused: true }) : `${name} is paused.\n`);
      end(EXIT.success);
    });
}

function declareResume(parent: Command, { terminal, end }: Shell): void {
  common(parent.command("resume <name>"))
    .description("End a pause. The ticks of the pause are left out.")
    .addOption(reasonOption())
    .action(async (name: string, { db, output, by: actor, reason }: ChangeOptions) => {
      const act = given({ actor, reason });
      const answer = await withExistingMill(db, (mill) => mill.schedules.resume(name, act));
      const text = answer.wasPaused ? `${name} is active again.` : `${name} was not paused.`;
      terminal.out(output === "json" ? json({ name, ...answer }) : `${text}\n`);
      end(EXIT.success);
    });
}

function declareRun(parent: Command, { terminal, end }: Shell): void {
  common(parent.command("run <name>"))
    .description("Enqueue the job of a schedule now, beside its ticks.")
    .option("--idempotency-key <key>", "a repeated key returns the same job, even after its end")
    .addOption(reasonOption())
    .action(async (name: string, options: ChangeOptions & { idempotencyKey?: string }) => {
      const { db, output, by: actor, reason, idempotencyKey } = options;
      const act = given({ actor, reason, idempotencyKey });
      const job = await withExistingMill(db, (mill) => mill.schedules.runNow(name, act));
      if (!job.created) terminal.err("The job already existed; no second job was enqueued.\n");
      terminal.out(output === "json" ? json(job) : `${job.id}\n`);
      end(EXIT.success);
    });
}

function declareRemove(parent: Command, { terminal, end }: Shell): void {
  common(parent.command("remove <name>"))
    .description("Remove a schedule that no living worker declares.")
    .addOption(reasonOption())
    .action(async (name: string, { db, output, by: actor, reason }: ChangeOptions) => {
      const act = given({ actor, reason });
      await withExistingMill(db, (mill) => mill.schedules.remove(name, act));
      const isJson = output === "json";
      terminal.out(isJson ? json({ name, isRemoved: true }) : `${name} is removed.\n`);
      end(EXIT.success);
    });
}

/** Needs no store: it shows what an expression means before it is used. */
function declareNext(parent: Command, { terminal, end }: Shell): void {
  parent
    .command("next <cron>")
    .description("Say what a cron expression means, and when it is due next.")
    .option("--time-zone <name>", "an IANA name such as Europe/Berlin")
    .addOption(outputOption())
    .action((cron: string, { timeZone, output }: { timeZone?: string; output: Format }) => {
      const job = defineJob({ type: "preview" });
      const { when } = schedule("preview", { cron, ...given({ timeZone }) }, job);
      const rules = timingOf(when);
      const runs = nextSlots(rules, systemClock.now(), NEXT_RUNS).map((slot) => new Date(slot));
      const description = cronSentence(rules);
      const lines = runs.map((run) => `${timeOf(run)}\n`);
      const isJson = output === "json";
      terminal.out(
        isJson ? json({ description, nextRuns: runs }) : [`${description}\n`, ...lines].join(""),
      );
      end(EXIT.success);
    });
}

function common(command: Command): Command {
  return command
    .addOption(actorOption("the operator, for the record", systemUser()))
    .addOption(databaseOption())
    .addOption(serverOption())
    .addOption(outputOption());
}

function timed(command: Command): Command {
  return command
    .option("--time-zone <name>", "an IANA name such as Europe/Berlin (default: UTC)")
    .option("--missed <policy>", "skip, once, or how many missed ticks are made up for")
    .addOption(
      new Option("--overlap <policy>", "while the job of the previous tick is not final").choices([
        "queue",
        "skip",
        "replace",
      ]),
    )
    .option("--jitter <time>", "start its jobs up to this much later, such as 5m")
    .option("--start <time>", "no tick before this time, such as 2026-12-24T18:00:00Z")
    .option("--end <time>", "no tick after this time");
}

/** The library says what is wrong with a value. */
function timing(options: TimingOptions): Partial<Timing>;
function timing(options: Omit<UpdateOptions, keyof Common>): Omit<TimingChange, "cron">;
function timing(options: Omit<UpdateOptions, keyof Common>): Omit<TimingChange, "cron"> {
  const { timeZone, missed, overlap, jitter, start, end } = options;
  const policy: any =
    missed !== undefined && /^\d+$/.test(missed) ? { all: Number(missed) } : missed;
  const bounds = { start: start === false ? null : start, end: end === false ? null : end };
  return given({ timeZone, missed: policy, overlap, jitter, ...bounds });
}
