/** `millrace drain`: pauses a target, and waits until none of its jobs runs any more. */
import type { Command } from "commander";
import type { Drained, DrainProgress, DrainTarget } from "../../../api/control/drain.ts";
import { MillraceError } from "../../../core/errors.ts";
import { plain } from "../../../lib/plain-text.ts";
import { shellWord } from "../../../lib/shell-word.ts";
import { LiveArea } from "../../follow/live-area.ts";
import { changedWorkerIdOf } from "../../job-id.ts";
import type { OperatorMill } from "../../operator-mill.ts";
import { systemUser, withExistingMill, type Shell } from "../../shell.ts";
import { CommandFailure, EXIT } from "../../terminal/exit-codes.ts";
import {
  actorOption,
  databaseOption,
  durationOption,
  outputOption,
  serverOption,
} from "../../terminal/options.ts";
import { json } from "../../terminal/output.ts";
import { listenForInterrupt } from "../../terminal/stop-signal.ts";
import type { Terminal } from "../../terminal/terminal.ts";
import { targetsOf, type TargetOptions } from "../pause.ts";

const TIMEOUT_MS = 600_000;

interface DrainOptions extends TargetOptions {
  readonly worker?: string;
  readonly reason: string;
  readonly by: string;
  readonly timeout: number;
  readonly resumeAfter?: true;
}

/** The target, its name for people, and the command that ends the pause. */
interface Subject {
  readonly target: DrainTarget;
  readonly subject: string;
  /** Null: a quiet worker stays quiet. */
  readonly resume: string | null;
}

export function declareDrain(program: Command, { terminal, end }: Shell): void {
  program
    .command("drain")
    .description("Pause jobs, and wait until none of them runs any more.")
    .option("--type <name>", "jobs of this type")
    .option("--lane <name>", "jobs of this lane")
    .option("--tenant <name>", "jobs of this tenant")
    .option("--service <name>", "jobs of types that use this service")
    .option("--worker <id>", "the jobs of this worker, which becomes quiet")
    .option("--all", "all jobs, also those of new types, lanes and tenants")
    .option("--reason <text>", "the reason, shown by explain and pauses", "drain")
    .addOption(actorOption("the person, for the record", systemUser()))
    .addOption(durationOption("--timeout <time>", "how long to wait").default(TIMEOUT_MS, "10m"))
    .option("--resume-after", "end the pause when no job runs any more")
    .addOption(databaseOption())
    .addOption(serverOption())
    .addOption(outputOption())
    .addHelpText("after", HELP_AFTER)
    .action(async (options: DrainOptions) => {
      const interrupt = listenForInterrupt();
      try {
        await withExistingMill(options.db, async (mill) => {
          const subject = await subjectOf(mill, options);
          end(await drain(mill, subject, { ...options, signal: interrupt.signal }, terminal));
        });
      } finally {
        interrupt.stop();
      }
    });
}

const HELP_AFTER = `
With --all, the whole installation is paused, also new lanes, types and tenants. The pause stays,
unless --resume-after is given. A target that was paused before keeps that pause, also with
--resume-after. Exit codes: 0 when none of the jobs runs any more, 124 when some still run after
--timeout, 130 after Ctrl-C. Then the pause stays as well.

Example:
  millrace drain --lane reports --reason "a deploy" --timeout 5m
`;

/** The result as JSON; `ids` are some of the jobs that still run. */
interface Result extends DrainProgress {
  readonly drained: boolean;
  readonly resumed: boolean;
  readonly ids: readonly string[];
  /** Only known after a drain. */
  readonly keptPause?: Drained["keptPause"];
}

async function drain(
  mill: OperatorMill,
  subject: Subject,
  { reason, by, timeout, signal, resumeAfter, output }: DrainOptions & { signal: AbortSignal },
  terminal: Terminal,
): Promise<(typeof EXIT)[keyof typeof EXIT]> {
  const report = reporter(terminal, subject);
  const { target } = subject;
  let last: DrainProgress = { running: 0, atLeast: false };
  let keptPause: Drained["keptPause"];
  const tell = (result: Omit<Result, "atLeast">): void => {
    const facts: Result = { ...result, atLeast: result.drained ? false : last.atLeast };
    if (output === "json") terminal.out(json({ ...target, ...facts }));
  };
  try {
    ({ keptPause } = await mill.drain(target, {
      reason,
      actor: by,
      timeout,
      signal,
      onProgress: (progress) => {
        last = progress;
        report.show(progress);
      },
    }));
  } catch (error) {
    report.end();
    const isLate = error instanceof MillraceError && error.code === "DRAIN_TIMED_OUT";
    if (!signal.aborted && !isLate) throw error;
    const ids = isLate ? idsOf(error) : [];
    tell({ drained: false, resumed: false, running: last.running, ids });
    if (isLate) terminal.err(`${error.code}: ${error.message}\n${idLines(ids)}`);
    terminal.err(`${stays(subject)}\n`);
    return isLate ? EXIT.timedOut : EXIT.interrupted;
  }
  report.end();
  const resumed = resumeAfter === true && keptPause === null && !("worker" in target);
  if (resumed) await mill.resume(target, { actor: by });
  tell({ drained: true, resumed, running: 0, ids: [], keptPause });
  if (output !== "json") {
    const after = resumed ? "It is resumed." : `${earlier(keptPause)}${stays(subject)}`;
    terminal.out(`${plain(subject.subject)} is drained: none of its jobs runs. ${after}\n`);
  }
  return EXIT.success;
}

/** What a person reads while the command waits: one live line, or a line per change. */
function reporter(
  { screen, err }: Terminal,
  { subject }: Subject,
): { show: (progress: DrainProgress) => void; end: () => void } {
  const area = screen === undefined ? null : new LiveArea(screen);
  return {
    show(progress) {
      const line = `${plain(subject)}: ${countOf(progress)} still running`;
      if (area === null) err(`${line}\n`);
      else area.draw([line]);
    },
    end: () => area?.end(),
  };
}

function countOf({ running, atLeast }: DrainProgress): string {
  return `${atLeast ? "at least " : ""}${running} job${running === 1 && !atLeast ? "" : "s"}`;
}

function earlier(pause: Drained["keptPause"]): string {
  if (pause === null) return "";
  const { pausedBy, reason } = pause;
  const by = pausedBy === null ? "" : ` by ${plain(pausedBy)}`;
  return `The target was paused before${by}: ${plain(reason)}. `;
}

function stays({ resume }: Subject): string {
  if (resume === null) return "The worker stays quiet. To resume: millrace workers resume ID";
  return `The pause stays. To resume: ${resume}`;
}

function idLines(ids: readonly string[]): string {
  return ids.map((id) => `  ${id}\n`).join("");
}

function idsOf({ details }: MillraceError): readonly string[] {
  const { ids } = details;
  return Array.isArray(ids) ? ids.map(String) : [];
}

async function subjectOf(mill: OperatorMill, options: DrainOptions): Promise<Subject> {
  const { worker, type, lane, tenant, service, resumeAfter } = options;
  const [named, ...more] = targetsOf(options);
  const count = more.length + [named, worker].filter((given) => given !== undefined).length;
  if (count !== 1) {
    throw usage(
      "Name exactly one of --type, --lane, --tenant, --service, --worker and --all.",
      count === 0 ? "--lane reports, or --all for the whole installation" : "--lane reports",
    );
  }
  if (worker !== undefined) {
    if (resumeAfter === true)
      throw usage("A quiet worker stays quiet.", "leave --resume-after out");
    const id = await changedWorkerIdOf(mill, worker);
    return { target: { worker: id }, subject: `Worker ${id}`, resume: null };
  }
  if (named === undefined) throw new Error("a target was named and not found");
  if ("installation" in named.target) return { ...named, resume: "millrace resume --all" };
  const [[kind, name] = ["", ""]] = Object.entries({ type, lane, tenant, service }).filter(
    ([, value]) => value !== undefined,
  );
  return { ...named, resume: `millrace resume --${kind} ${shellWord(name ?? "")}` };
}

function usage(message: string, example: string): CommandFailure {
  return new CommandFailure(message, { hint: `For example: ${example}`, exitCode: EXIT.usage });
}
