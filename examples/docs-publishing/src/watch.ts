/** What happens to the jobs of a mill, as lines. */
import { EventEmitter, once } from "node:events";
import type { Events, Millrace } from "millrace";
import { queueJob, type QueueJob } from "./queue-job.ts";

const PATIENCE_MS = 60_000;

export interface Watch extends Disposable {
  /** Resolves when a job of this project is in that phase; rejects after a minute without. */
  reached(project: string, phase: string): Promise<void>;
}

/** Says what happens from now on, until it is disposed of. */
export function watch(mill: Millrace): Watch {
  const places = new EventEmitter();
  const progress: Listener<"job:progress"> = async ({ id, phase, percent, overall, data }) => {
    const { project, ...job } = await queueJob(mill, id);
    places.emit(`${project} ${phase}`);
    if (percent === 0 && data === undefined) return;
    const message = isMessage(data) ? `: ${data.message}` : "";
    say(labelOf({ project, ...job }), `${phase} ${percent} %${message} (${overall} % of all)`);
  };
  const end: Listener<"job:completed" | "job:failed"> = async ({ id }) => {
    const job = await queueJob(mill, id);
    say(labelOf(job), sentenceOf(job));
  };
  const stops = [
    mill.on("job:progress", progress),
    mill.on("job:completed", end),
    mill.on("job:failed", end),
  ];
  return {
    async reached(project, phase) {
      await once(places, `${project} ${phase}`, { signal: AbortSignal.timeout(PATIENCE_MS) });
    },
    [Symbol.dispose]: () => {
      for (const stop of stops) stop();
    },
  };
}

/** The mill logs what it rejects with. */
type Listener<E extends keyof Events> = (event: Events[E]) => unknown;

export function say(subject: string, sentence: string): void {
  process.stdout.write(`${subject.padEnd(30)} ${sentence}\n`);
}

export function sayTable(title: string, rows: Readonly<Record<string, string | number>>): void {
  const entries = Object.entries(rows);
  say(title, entries.map(([name, value]) => `${name}: ${value}`).join(", ") || "none");
}

function labelOf({ project, build, kind }: QueueJob): string {
  return build === null ? `${project} ${kind}` : `${project} build ${build}`;
}

function sentenceOf({ status, errors }: QueueJob): string {
  const reasons = (errors ?? []).map(
    (each) => ("slug" in each ? `${each.slug}: ` : "") + each.error,
  );
  return [status, ...reasons].join("; ");
}

function isMessage(value: unknown): value is { readonly message: string } {
  return typeof value === "object" && value !== null && "message" in value;
}
