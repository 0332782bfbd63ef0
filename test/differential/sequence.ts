/** One sequence of commands on the model and on both databases: every answer must be the same. */
import { isDeepStrictEqual, inspect } from "node:util";
import { newId } from "../../src/core/ids.ts";
import type { JobId } from "../../src/core/job.ts";
import type { NewJob } from "../../src/store/store.ts";
import { newJob, retention, workerInfo } from "../support/factories.ts";
import type { PostgresServer } from "../support/postgres.ts";
import { seededDice } from "../support/seeded-dice.ts";
import { openPostgres, openSqlite, type TestStore } from "../support/stores.ts";
import { GATES, isKeyed, type Command, type JobWish } from "./commands.ts";
import { modelStore, type Compared, type ModelStore } from "./model/model.ts";
import { finishedAt, outlived } from "./model/reading.ts";
import { audit, idAt, perform, type Script, type Subject } from "./perform.ts";

/** Puts something else in the place of a store: a planted difference. */
export type Plant = (name: string, store: Compared) => Compared;

/** More differences than that tell nothing more. */
const LINES_MAX = 12;
/** Nothing is kept. */
const KEPT = { completed: 0, completed_with_errors: 0, failed: 0, cancelled: 0 };
const ID_TIME = Date.UTC(2026, 0, 5, 9);
const WORKERS = [1, 2, 3].map((number) =>
  workerInfo({ id: newId(ID_TIME, seededDice(number)), pid: number }),
);

/** Throws an error that tells the first answer in which the stores differ. */
export async function runSequence(
  server: PostgresServer,
  commands: readonly Command[],
  plant: Plant = (_name, store) => store,
): Promise<void> {
  await using sqlite = await openSqlite();
  await using postgres = await openPostgres(server, "shared");
  const model = modelStore(sqlite.clock);
  const subjects = [
    subjectOf("model", plant("model", model)),
    subjectOf("SQLite", plant("SQLite", sqlite.store)),
    subjectOf("PostgreSQL", plant("PostgreSQL", postgres.store)),
  ];
  for (const { store } of subjects) {
    await nameGates(store);
    for (const worker of WORKERS) await store.join(worker);
  }

  const ids: JobId[] = [];
  const asked: NewJob[] = [];
  for (const [step, command] of commands.entries()) {
    if (command.do === "advance") {
      await advance([sqlite, postgres], command.ms);
      continue;
    }
    const script = scriptOf(model, ids, asked, command);
    await compare(subjects, `${step}: ${command.do}`, (each) => perform(each, script, command));
  }
  const script: Script = { workers: WORKERS, ids, jobs: [], pruneLimit: 0 };
  await compare(subjects, "the end", (each) => audit(each, script));
}

function subjectOf(name: string, store: Compared): Subject {
  return { name, store, claims: [], ids: new Map(), position: 0 };
}

/** Of several gates the one named first holds a job: all stores hear the names in one order. */
async function nameGates(store: Compared): Promise<void> {
  for (const gate of GATES) {
    await store.pause(gate, { reason: "to be known", by: null });
    await store.resume(gate);
  }
  await store.release(1);
}

async function advance(stores: readonly TestStore[], ms: number): Promise<void> {
  for (const { clock } of stores) await clock.advance(ms);
}

async function compare(
  subjects: readonly Subject[],
  what: string,
  ask: (subject: Subject) => Promise<unknown>,
): Promise<void> {
  const answers: { readonly name: string; readonly answer: unknown }[] = [];
  for (const subject of subjects) {
    answers.push({ name: subject.name, answer: await ask(subject) });
  }
  const [first, ...others] = answers;
  const told = others.flatMap(({ name, answer }) =>
    differences(first?.answer, answer).map((line) => `  ${first?.name} | ${name}: ${line}`),
  );
  if (told.length > 0) throw new Error([what, ...told.slice(0, LINES_MAX)].join("\n"));
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
function scriptOf(model: ModelStore, ids: JobId[], asked: NewJob[], command: Command): Script {
  const known = [...ids];
  const jobs = wishesOf(command).map((wish) => {
    const job = jobOf(model, { ids, asked }, wish);
    const made =
      command.do === "reprocess" ? { ...job, retryOf: idAt({ ids: known }, command.job) } : job;
    asked.push(made);
    if (!ids.includes(made.id)) ids.push(made.id);
    return made;
  });
  const pruneLimit = command.do === "prune" ? withoutTies(model, command.jobs) : 0;
  return { workers: WORKERS, ids: known, jobs, pruneLimit };
}

function wishesOf(command: Command): readonly JobWish[] {
  if (command.do === "enqueue") return command.jobs;
  if (command.do === "reprocess") return [command.wish];
  if (command.do === "settle") return command.items.flatMap(({ child }) => child ?? []);
  return [];
}

function jobOf(
  { world }: ModelStore,
  { ids, asked }: { readonly ids: readonly JobId[]; readonly asked: readonly NewJob[] },
  wish: JobWish,
): NewJob {
  const { dueMs, isInstant, correlation, parent, retryOf, repeats, ...same } = wish;
  const alike = asked.filter((job) => isKeyed(job) === isKeyed(wish));
  const first = repeats === null ? undefined : alike[repeats.job % alike.length];
  if (first !== undefined && repeats?.isSame === true) return first;
  return newJob({
    ...same,
    id: first?.id ?? newId(ID_TIME + ids.length, seededDice(ids.length)),
    due: isInstant ? { at: world.clock.now() + dueMs } : { delayMs: Math.max(0, dueMs) },
    correlationId: correlation === null ? null : idAt({ ids }, correlation),
    parentId: parent === null ? null : idAt({ ids }, parent),
    retryOf: retryOf === null ? null : idAt({ ids }, retryOf),
    // Whether a known id or a bad value is complained about first is left open.
    priority: first === undefined ? wish.priority : Math.abs(wish.priority),
    createdBy: "ada",
    payloadVersion: "2",
    concurrencyKey: "mail",
    webhookUrl: "https://example.org/hook",
  });
}

/** The least number, from the wanted one on, that leaves no choice among equally old jobs. */
function withoutTies({ world }: ModelStore, wanted: number): number {
  const ages = outlived(world, retention({ finishedMs: KEPT })).map(finishedAt);
  let limit = wanted;
  while (limit > 0 && ages[limit] !== undefined && ages[limit] === ages[limit - 1]) limit += 1;
  return limit;
}
