/** `millrace enqueue`: enqueues one job of any type. */
import type { Command } from "commander";
import type { Json } from "../../core/payload.ts";
import type { JobContract } from "../../api/contract.ts";
import type { TypeView } from "../../api/services/types.ts";
import type { OperatorMill } from "../operator-mill.ts";
import type { EnqueueOptions } from "../../api/enqueue.ts";
import { plain } from "../../lib/plain-text.ts";
import { EXIT, type ExitCode } from "../terminal/exit-codes.ts";
import { follow } from "../follow/follow.ts";
import { declaredType } from "../../jobs/declared-type.ts";
import { bareContract } from "../../jobs/stored-type.ts";
import { loadJobFile, usualJobFile } from "../jobs-file/job-file.ts";
import { nearestType } from "../nearest-type.ts";
import {
  databaseOption,
  serverOption,
  durationOption,
  isServerUrl,
  jobsOption,
  outputOption,
  parseJson,
  parsePriority,
  parseTag,
} from "../terminal/options.ts";
import { json, type Format } from "../terminal/output.ts";
import { given, withOperatorMill, type Shell } from "../shell.ts";
import { followCommands } from "./jobs/again.ts";
import { FOLLOW_HELP_AFTER } from "./jobs/follow.ts";
import type { Terminal } from "../terminal/terminal.ts";

interface EnqueueCommandOptions {
  readonly db: string;
  /** False: no job file is to be used. */
  readonly jobs?: string | false;
  readonly follow?: boolean;
  readonly timeout?: number;
  readonly tenant?: string;
  readonly delay?: number;
  readonly runAt?: string;
  readonly priority?: NonNullable<EnqueueOptions["priority"]>;
  readonly idempotencyKey?: string;
  readonly dedupKey?: string;
  readonly correlationId?: string;
  readonly payloadVersion?: string;
  readonly tag?: Readonly<Record<string, string>>;
  readonly output: Format;
}

export function declareEnqueue(program: Command, { terminal, end }: Shell): void {
  program
    .command("enqueue")
    .description("Enqueue a job of any type, and follow it with --follow.")
    .argument("<type>", "type of the job")
    .argument("[payload]", "payload of the job as JSON", parseJson)
    .addOption(databaseOption())
    .addOption(serverOption())
    .addOption(jobsOption())
    .option("--no-jobs", "use no job file: any type and payload are accepted")
    .option("--follow", "wait for the end of the job: changes to stderr, the result to stdout")
    .addOption(durationOption("--timeout <time>", "with --follow: how long to wait"))
    .option("--tenant <name>", "tenant of the job")
    .addOption(durationOption("--delay <time>", "start the job after this time"))
    .option("--run-at <time>", "start the job at this time, such as 2026-12-24T18:00:00Z")
    .option("--priority <level>", "critical, high, normal, low or a number", parsePriority)
    .option("--idempotency-key <key>", "a repeated key returns the same job, even after its end")
    .option("--dedup-key <key>", "no second job with this key while the first waits or runs")
    .option("--correlation-id <id>", "correlation id of the job")
    .option("--payload-version <version>", "version of the payload, such as 2")
    .option("--tag <name=value>", "a tag; may be given several times", parseTag)
    .addOption(outputOption("ndjson"))
    .addHelpText("after", HELP_AFTER)
    .action(
      async (
        type: string,
        payload: Json | undefined,
        options: EnqueueCommandOptions,
        command: Command,
      ) => {
        end(await enqueue({ type, payload, options, command }, terminal));
      },
    );
}

const HELP_AFTER = `
The job file is --jobs, or jobs in millrace.config.ts, or else jobs.ts or src/jobs.ts (or .mts, .js,
.mjs). The job uses its definition in the file: the payload is checked, and lane, timeout and
attempts are set. A type that the file does not declare is refused. Without a job file, and with
--no-jobs, any type and payload are accepted, with the settings that a worker has declared for the
type (millrace types), or else the default settings. With --server, the job file is that of the
server.

With --follow:${FOLLOW_HELP_AFTER}
Examples:
  millrace enqueue email '{"to":"ada@example.com"}'
  millrace enqueue report '{"month":11}' --follow > report.json
  millrace enqueue email '{"to":"ada@example.com"}' --delay 5m --tag campaign=autumn
`;

interface Request {
  readonly type: string;
  readonly payload: Json | undefined;
  readonly options: EnqueueCommandOptions;
  readonly command: Command;
}

async function enqueue(request: Request, terminal: Terminal): Promise<ExitCode> {
  const { type, payload, options, command } = request;
  // A server uses its own job file, and says what it refuses.
  const isRemote = isServerUrl(options.db);
  const hasNoFile = isRemote || options.jobs === false;
  const file = hasNoFile ? undefined : options.jobs || usualJobFile();
  const known = file === undefined ? null : await knownContract(request, file);
  return withOperatorMill(options.db, async (mill) => {
    // A server knows what its workers have declared.
    const declared = known === null && !isRemote ? await mill.types.get(type) : null;
    if (known === null && !isRemote) await warnUnknown({ mill, type, declared }, terminal);
    const contract =
      known ?? bareContract({ type, payload, version: options.payloadVersion }, declared);
    const job = await mill.enqueue(contract, payload, enqueueOptions(options));
    if (options.follow === true) {
      terminal.err(`${job.id}${job.created ? "" : " already existed"}\n`);
      const commands = followCommands(job.id, command);
      const { output: format, timeout: timeoutMs } = options;
      return follow(mill, job.id, { format, timeoutMs, ...commands }, terminal);
    }
    if (!job.created) terminal.err("The job already existed; no second job was enqueued.\n");
    terminal.out(options.output === "table" ? `${job.id}\n` : json(job));
    return EXIT.success;
  });
}

/** The definition of the job file. */
async function knownContract(
  { type }: Request,
  file: string,
): Promise<JobContract<string, unknown, unknown>> {
  const { contracts } = await loadJobFile(file);
  return declaredType(type, contracts, file, "To enqueue any type, add --no-jobs.");
}

function enqueueOptions(options: EnqueueCommandOptions): EnqueueOptions {
  const { tenant, delay, runAt, priority, idempotencyKey, dedupKey, tag: tags } = options;
  const { correlationId, payloadVersion } = options;
  const request = { correlationId, payloadVersion, idempotencyKey, dedupKey };
  return given({ tenant, delay, runAt, priority, ...request, tags });
}

/**
 * Warns that the definition is not known without the file. A type without any job may be mistyped,
 * and its job would wait for ever.
 */
async function warnUnknown(
  { mill, type, declared }: { mill: OperatorMill; type: string; declared: TypeView | null },
  terminal: Terminal,
): Promise<void> {
  const settings = declared === null ? "the default settings" : "the settings of its workers";
  terminal.err(
    "Without a job file (--jobs FILE) the definition is not known: the payload is not checked, " +
      `and ${settings} apply.\n`,
  );
  if (declared !== null) return;
  const near = await nearestType(mill, type);
  if (near === null) return;
  const unused = `There is no job of type "${plain(type)}" yet.`;
  terminal.err(`${unused} Did you mean ${plain(near)}?\n`);
}
