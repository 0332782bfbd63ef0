/** One sequence of commands on the model and on both databases: every answer must be the same. */
import { isDeepStrictEqual, inspect } from "node:util";
import { newId } from "../../src/core/ids.ts";
import type { JobId } from "../../src/core/job.ts";
import type { NewJob } from "../../src/store/types/jobs-and-runs.ts";
import { newJob, retention, workerInfo } from "../support/factories.ts";
import type { PostgresServer } from "../support/postgres.ts";
import { seededDice } from "../support/seeded-dice.ts";
import { GATES, type Command, type JobWish } from "./commands.ts";
import type { Compared, ModelStore } from "./model/model.ts";
import { finishedAt, expired } from "./model/reading.ts";
import { isOpen } from "./model/world.ts";
import { closedGates } from "./model/gates.ts";
import {
  audit,
  idAt,
  letterAt,
  notedAt,
  perform,
  type OpenRun,
  type Script,
  type Subject,
} from "./perform.ts";
import { openStage, type Plant, type Stage } from "./stage.ts";

/** More differences than that tell nothing more. */
const LINES_MAX = 12;
/** Nothing is kept. */
const KEPT = { completed: 0, completed_with_errors: 0, failed: 0, cancelled: 0 };
const ID_TIME = Date.UTC(2026, 0, 5, 9);
/** The first is soon silent, the last hardly ever. The first two belong to one process. */
const WORKERS = [30_000, 150_000, 3_000_000].map((leaseMs, index) =>
  workerInfo({
    id: newId(ID_TIME, seededDice(index + 1)),
    process: newId(ID_TIME, seededDice(index < 2 ? 11 : 12)),
    pid: index + 1,
    leaseMs,
  }),
);

/** Hears what was asked and what all have answered. */
export type Note = (command: Command, answer: unknown) => void;

/** Throws an error that tells the first answer in which the stores differ. */
export async function runSequence(
  server: PostgresServer,
  commands: readonly Command[],
  { plant, note }: { readonly plant?: Plant | undefined; readonly note?: Note | undefined } = {},
): Promise<void> {
  await using stage = await openStage(server, plant);
  const { subjects } = stage;
  for (const { store } of subjects) {
    await nameGates(store);
    for (const worker of WORKERS) await store.register(worker);
  }

  const ids: JobId[] = [];
  const asked: NewJob[] = [];
  for (const [step, command] of commands.entries()) {
    if (command.do === "advance") {
      await stage.advance(command.ms);
      note?.(command, `${command.ms} ms`);
      continue;
    }
    const script = scriptOf(stage, ids, asked, command);
    const what = `${step}: ${command.do}`;
    const answer = await compare(subjects, what, (each) => perform(each, script, command));
    note?.(command, answer);
  }
  const script: Script = {
    workers: WORKERS,
    now: 0,
    noted: [],
    ids,
    open: [],
    letters: [],
    closed: [],
    jobs: [],
    pruneLimit: 0,
  };
  await compare(subjects, "the end", (each) => audit(each, script));
}

/** Of several gates the one named first holds a job: all stores hear the names in one order. */
async function nameGates(store: Compared): Promise<void> {
  for (const gate of GATES) {
    await store.pause(gate, { reason: "to be known", by: null });
    await store.resume(gate);
  }
  await store.release(1);
}

/** Answers what all have answered. */
async function compare(
  subjects: readonly Subject[],
  what: string,
  ask: (subject: Subject) => Promise<unknown>,
): Promise<unknown> {
  const answers: { readonly name: string; readonly answer: unknown }[] = [];
  for (const subject of subjects) {
    answers.push({ name: subject.name, answer: await ask(subject) });
    await subject.calm();
  }
  const [first, ...others] = answers;
  const told = others.flatMap(({ name, answer }) =>
    differences(first?.answer, answer).map((line) => `  ${first?.name} | ${name}: ${line}`),
  );
  if (told.length > 0) throw new Error([what, ...told.slice(0, LINES_MAX)].join("\n"));
  return first?.answer;
}

/** Where two answers differ, leaf by leaf. */
function differences(left: unknown, right: unknown, path = "answer"): string[] {
  if (isDeepStrictEqual(left, right)) return [];
  if (!isBranch(left) || !isBranch(right)) return [`${path}: ${inspect(left)} | ${inspect(right)}`];
  const names = new Set([...Object.keys(left), ...Object.keys(right)]);
  return [...names].flatMap((name) => differences(left[name], right[name], `${path}.${name}`));
}

function isBranch(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}

/** Makes the jobs of a command, the same for all stores. */
function scriptOf(
  { model, subjects }: Stage,
  ids: JobId[],
  asked: NewJob[],
  command: Command,
): Script {
  const known = [...ids];
  const letters = [...model.world.letters.keys()];
  const closed = closedGates(model.world);
  const noted = notedIds(model.world);
  const open = openRuns(model, subjects[0]?.claims ?? []);
  const jobs = wishesOf(command).map((wish) => {
    const job = jobOf(model, { ids, asked }, wish);
    const made =
      command.do === "reprocess"
        ? faithful(
            { ...job, after: [], retryOf: letterAt({ ids: known, letters }, command.job) },
            command.wish,
            asked,
          )
        : job;
    asked.push(made);
    if (!ids.includes(made.id)) ids.push(made.id);
    return made;
  });
  const pruneLimit = command.do === "prune" ? withoutTies(model, command.jobs) : 0;
  const now = model.world.clock.now();
  return { workers: WORKERS, now, noted, ids: known, open, letters, closed, jobs, pruneLimit };
}

/** Jobs whose runs have said something. */
function notedIds(world: ModelStore["world"]): JobId[] {
  return [...world.jobs.values()].flatMap(({ asked, notes }) => {
    const isNoted = notes.progress !== null || notes.phases.length + notes.units.length > 0;
    return isNoted || notes.logs.length > 0 ? [asked.id] : [];
  });
}

/** The claims of the model stand in the same order as those of the others. */
function openRuns({ world }: ModelStore, claims: Subject["claims"]): OpenRun[] {
  return claims.flatMap(({ lease, jobs }, claim) =>
    (world.leases.get(lease.number)?.runs ?? []).filter(isOpen).map((run) => {
      const job = jobs.findIndex(({ key }) => key === run.job.key);
      return { claim, job, isStarted: run.startedAt !== null };
    }),
  );
}

function wishesOf(command: Command): readonly JobWish[] {
  if (command.do === "enqueue" || command.do === "enqueueInside") return command.jobs;
  if (command.do === "reprocess") return [command.wish];
  if (command.do === "settle") return command.items.flatMap(({ children }) => children);
  if (command.do === "record") return command.notes.flatMap(({ children }) => children);
  return [];
}

function jobOf(
  { world }: ModelStore,
  { ids, asked }: { readonly ids: readonly JobId[]; readonly asked: readonly NewJob[] },
  wish: JobWish,
): NewJob {
  const { dueMs, isInstant, correlation, parent, retryOf, repeats, after, ...most } = wish;
  const { isFaithful: _isFaithful, ...same } = most;
  const first = repeats === null ? undefined : asked[repeats.job % asked.length];
  // Whether a known id, an unknown one or a bad value is complained about first is left open.
  const isBadAllowed = first === undefined && after === null;
  const priority = isBadAllowed ? wish.priority : Math.abs(wish.priority);
  if (first !== undefined && repeats?.isSame === true) return { ...first, priority };
  // Mostly one whose runs have said something.
  const predecessor = notedAt({ ids, noted: notedIds(world) }, retryOf ?? 0);
  const made = newJob({
    ...same,
    id: first?.id ?? newId(ID_TIME + ids.length, seededDice(ids.length)),
    due: isInstant ? { at: world.clock.now() + dueMs } : { delayMs: Math.max(0, dueMs) },
    correlationId: correlation === null ? null : idAt({ ids }, correlation),
    parentId: parent === null ? null : idAt({ ids }, parent),
    retryOf: retryOf === null ? null : predecessor,
    priority,
    createdBy: "ada",
    payloadVersion: "2",
    after: [...new Set(after?.map((each) => idAt({ ids }, each)))],
    webhookUrl: "https://example.org/hook",
  });
  return faithful(made, wish, asked);
}

/** One that repeats another takes over what that has completed, if it asks for the same. */
function faithful(job: NewJob, { isFaithful }: JobWish, asked: readonly NewJob[]): NewJob {
  const old = isFaithful ? asked.find(({ id }) => id === job.retryOf) : undefined;
  return old === undefined ? job : { ...job, payload: old.payload };
}

/** The least number, from the wanted one on, that leaves no choice among equally old jobs. */
function withoutTies({ world }: ModelStore, wanted: number): number {
  const ages = expired(world, retention({ finishedMs: KEPT })).map(finishedAt);
  let limit = wanted;
  while (limit > 0 && ages[limit] !== undefined && ages[limit] === ages[limit - 1]) limit += 1;
  return limit;
}
