/**
 * Short lives of the embedded store: between them, every verb that writes, one after the other.
 *
 * Time and chance are fixed, so that two runs write the same rows. What a crash leaves behind can
 * therefore be compared with the whole state after each step, and not only with a few jobs.
 */
import { join } from "node:path";
import { MillraceError } from "../../src/core/errors.ts";
import { newId } from "../../src/core/ids.ts";
import type { JobId } from "../../src/core/job.ts";
import { makeSqliteStore } from "../../src/store/sqlite/create.ts";
import type { SqliteJobStore } from "../../src/store/sqlite/store.ts";
import { VERBS, type Verb } from "../../src/store/verbs.ts";
import { newJob } from "../support/factories.ts";
import { seededDice } from "../support/seeded-dice.ts";
import { virtualClock } from "../support/virtual-clock.ts";
import { control } from "./script-of-control.ts";
import { flows } from "./script-of-flows.ts";
import { keys } from "./script-of-keys.ts";
import { work } from "./script-of-work.ts";
import { did, type Life, type Patience, type Scene, type Step } from "./steps.ts";

/** The file that a script copies the database into. */
export const BACKUP = "backup.db";
export const DATABASE = "jobs.db";

const LIVES = { work, keys, flows, control } as const satisfies Readonly<Record<string, Life>>;

/**
 * `work`: claims, runs and their ends. `keys`: keys, gates, reviews and what retention removes.
 * `flows`: jobs that wait for a name or for others, logs and stale marks.
 * `control`: services, limits and intakes.
 */
export type Script = keyof typeof LIVES;
export const SCRIPTS: readonly Script[] = ["work", "keys", "flows", "control"];

const READING_VERBS: ReadonlySet<Verb> = new Set([
  "fairLanes",
  "attempts",
  "breakerChanges",
  "breakers",
  "checkpoints",
  "count",
  "countAhead",
  "countBehind",
  "countRunning",
  "deadLetter",
  "deadLetters",
  "dependants",
  "ends",
  "expired",
  "failureDecisions",
  "failureGroup",
  "failureGroups",
  "feed",
  "feedEnd",
  "feedStart",
  "gates",
  "get",
  "groupedStats",
  "countLetters",
  "letterGroups",
  "holder",
  "intakes",
  "idsBetween",
  "lettersOfCause",
  "limits",
  "list",
  "lockHolder",
  "logs",
  "minutes",
  "deploys",
  "savedViews",
  "openDependencies",
  "payloadRules",
  "operation",
  "operations",
  "operationItems",
  "quotas",
  "quotaUse",
  "tenantNames",
  "removal",
  "openRemovals",
  "audits",
  "auditSeals",
  "chainStart",
  "newestSealed",
  "unsealedAudits",
  "overdue",
  "progress",
  "dueSchedules",
  "schedule",
  "schedules",
  "scheduleTicks",
  "silent",
  "stats",
  "time",
  "token",
  "tokenOf",
  "tokens",
  // The embedded store has no functions.
  "runFunction",
  "tenantsOf",
  "types",
  "histories",
  "unitHolders",
  "units",
  "workers",
]);

/** Every verb that writes, and the backup. A new verb counts until it is named above. */
export const WRITING_VERBS: readonly string[] = [
  ...VERBS.filter((verb) => !READING_VERBS.has(verb)),
  "backup",
];

/** What a script does when the disk fails it: gives up, or asks the same again. */
export type Temper = "resigned" | "stubborn";

interface PlayOptions {
  readonly script?: Script | undefined;
  readonly temper?: Temper | undefined;
  /** Hears the name of each verb that is used. */
  readonly heard?: ((verb: string) => void) | undefined;
}

/** Each thread that makes a copy of the database may meet the same fault once. */
const ASKS_MAX = 6;

/** Plays a script in a folder. Each step is given out only after its verb has answered. */
export async function* play(folder: string, options: PlayOptions = {}): AsyncGenerator<Step, void> {
  let told = 0;
  for await (const step of stepsOf(folder, options, () => told)) {
    told += 1;
    yield step;
  }
}

async function* stepsOf(
  folder: string,
  { script = "work", temper = "resigned", heard }: PlayOptions,
  told: () => number,
): AsyncGenerator<Step, void> {
  const clock = virtualClock();
  const ids = seededDice(1);
  const path = join(folder, DATABASE);
  // The same for all of a step: a verb that has to be asked again writes what it would have written
  // at first.
  const bytes = (count: number): Uint8Array => new Uint8Array(count).fill(told());
  const dice = { random: () => 0.5, bytes };
  const id = (): JobId => newId(clock.now(), ids);
  const job: Scene["job"] = (given) => newJob({ id: id(), ...given });
  const patiently: Patience = temper === "stubborn" ? untilAnswered : (ask) => ask();
  const open = (): Promise<SqliteJobStore> =>
    patiently(async () => {
      const store = makeSqliteStore({ path }, { clock, dice });
      await store.open();
      heard?.("open");
      return listening(store, patiently, heard);
    });
  const scene: Scene = { clock, path, worker: id(), job, patiently };
  const life = LIVES[script];

  const store = await open();
  yield did("open");
  const held = yield* life.before(store, scene);
  await store.backup(join(folder, BACKUP));
  yield did("backup");
  await store.close();
  yield did("close");

  const again = await open();
  yield did("open again");
  yield* life.after(again, scene, held);
  await again.close();
  yield did("close again");
}

/** The same store; its verbs are asked in this way, and `heard` gets their names. */
function listening(
  store: SqliteJobStore,
  ask: Patience,
  heard: PlayOptions["heard"],
): SqliteJobStore {
  return new Proxy(store, {
    get(target, name) {
      const verb: unknown = Reflect.get(target, name, target);
      if (typeof verb !== "function") return verb;
      heard?.(String(name));
      const once = async (...args: unknown[]): Promise<unknown> =>
        Reflect.apply(verb, target, args);
      // Only its caller can begin that transaction anew.
      if (name === "enqueueInTransaction") return once;
      return (...args: unknown[]) => ask(() => once(...args));
    },
  });
}

async function untilAnswered<Answer>(ask: () => Promise<Answer>): Promise<Answer> {
  for (let asked = 1; ; asked += 1) {
    try {
      return await ask();
    } catch (error) {
      if (!isOfDisk(error) || asked === ASKS_MAX) throw error;
    }
  }
}

function isOfDisk(error: unknown): boolean {
  if (!(error instanceof MillraceError)) return false;
  return error.code === "STORE_FAILED" || error.code === "STORE_FULL";
}
