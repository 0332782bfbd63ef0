/**
 * What the store may look like after a crash: the state after each step of the script, and the
 * judgement of a folder that a crash has left behind (I18).
 */
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { newId } from "../../src/core/ids.ts";
import { makeSqliteStore } from "../../src/store/sqlite/create.ts";
import { newJob } from "../support/factories.ts";
import { seededDice } from "../support/seeded-dice.ts";
import { virtualClock } from "../support/virtual-clock.ts";
import { BACKUP, DATABASE, play, type Script } from "./script.ts";
import type { Step } from "./steps.ts";
import { temporaryFolder } from "../e2e/children.ts";

export interface History {
  readonly script: Script;
  readonly steps: readonly Step[];
  /** The verbs that it uses. */
  readonly verbs: ReadonlySet<string>;
  /** The state after as many steps; the first is that of an empty store. */
  readonly states: readonly string[];
}

/** `process`: what was written stays. `power`: what was not synced may be gone. */
export type Loss = "process" | "power";

/** Plays a script undisturbed and notes the state after each step. */
export async function readHistory(script: Script = "work"): Promise<History> {
  using folder = temporaryFolder();
  const steps: Step[] = [];
  const states: string[] = [];
  const verbs = new Set<string>();
  const heard = (verb: string): void => void verbs.add(verb);
  for await (const step of play(folder.path, { script, heard })) {
    steps.push(step);
    states.push(stateOf(join(folder.path, DATABASE)).state);
  }
  // An empty folder and one that was just opened look alike once they are opened.
  return { script, steps, verbs, states: [...states.slice(0, 1), ...states] };
}

/**
 * Opens what a crash has left behind and says what is wrong with it, or null. `acked` steps were
 * answered before the crash.
 */
export async function judge(
  folder: string,
  acked: number,
  loss: Loss,
  history: History,
): Promise<string | null> {
  try {
    return (
      (await wrongWithStore(join(folder, DATABASE), acked, loss, history)) ??
      wrongWithBackup(join(folder, BACKUP), acked, history)
    );
  } catch (error) {
    return `it cannot be used: ${String(error)}`;
  }
}

async function wrongWithStore(
  path: string,
  acked: number,
  loss: Loss,
  history: History,
): Promise<string | null> {
  const clock = virtualClock();
  const dice = seededDice(3);
  const store = makeSqliteStore({ path }, { clock, dice });
  await store.open();
  try {
    const { findings } = await store.examine();
    if (findings.length > 0) return `findings: ${JSON.stringify(findings.slice(0, 3))}`;
    const { integrity, state } = stateOf(path);
    if (integrity !== "ok") return `the file is damaged: ${integrity}`;
    const misplaced = placeInHistory(state, acked, loss, history);
    if (misplaced !== null) return misplaced;
    const [probe] = await store.enqueue([newJob({ id: newId(clock.now(), dice) })]);
    return probe?.status === "created" ? null : `a new job is ${probe?.status}`;
  } finally {
    await store.close();
  }
}

/** What was acknowledged must be there; the step after that is there as a whole or not at all. */
function placeInHistory(
  state: string,
  acked: number,
  loss: Loss,
  { steps, states }: History,
): string | null {
  const least = loss === "process" ? acked : durable(steps.slice(0, acked));
  if (states.slice(least, acked + 2).includes(state)) return null;
  const place = states.lastIndexOf(state);
  const name = steps[acked - 1]?.name ?? "nothing";
  if (place === -1) return `after "${name}" (${acked}): a state that no step leaves behind`;
  return `after "${name}" (${acked}): the state of step ${place}`;
}

/** How many of these steps outlive the power: all but the last ones that did not wait for it. */
function durable(steps: readonly Step[]): number {
  return steps.findLastIndex(({ promise }) => promise === "durable") + 1;
}

/** A backup is promised once it was answered; before that it is there as a whole or not at all. */
function wrongWithBackup(path: string, acked: number, { steps, states }: History): string | null {
  const number = steps.findIndex(({ name }) => name === "backup") + 1;
  if (acked < number && !existsSync(path)) return null;
  if (!existsSync(path)) return "the backup is not there";
  const { integrity, state } = stateOf(path);
  if (integrity !== "ok") return `the backup is damaged: ${integrity}`;
  return state === states[number] ? null : "the backup is not the state that was copied";
}

/** Every row of every table as one fingerprint, and what SQLite says about the file. */
function stateOf(path: string): { readonly integrity: string; readonly state: string } {
  const database = new DatabaseSync(path, { readOnly: true });
  try {
    const hash = createHash("sha256");
    const tables = database
      .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")
      .all();
    for (const { name } of tables) {
      hash.update(`\n${String(name)}`);
      for (const row of database.prepare(`SELECT * FROM ${String(name)}`).iterate()) {
        hash.update(JSON.stringify(Object.values(row), asText));
      }
    }
    const integrity = String(database.prepare("PRAGMA integrity_check").get()?.["integrity_check"]);
    return { integrity, state: hash.digest("hex") };
  } finally {
    database.close();
  }
}

function asText(_name: string, value: unknown): unknown {
  return value instanceof Uint8Array ? Buffer.from(value).toString("hex") : value;
}
