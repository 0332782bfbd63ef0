/**
 * Strikes the embedded store at every write and every sync of three scripts of some 40 steps, which
 * have every verb that writes between them, and judges what each strike leaves behind: it opens, it
 * is whole, and nothing acknowledged is missing.
 *
 *     node scripts/show/crash-points.ts [--every 1] [--errors-every 5]
 *
 * The process is killed at every point, or at each n-th with `--every`; the same calls are made to
 * fail as on a broken disk (EIO) and a full one (ENOSPC), to a caller who gives up and to one who
 * asks the same again. A store that acknowledges too early and one that commits in two parts must
 * be found out.
 */
import { readHistory } from "../../test/crash-points/history.ts";
import type { History } from "../../test/crash-points/history.ts";
import { obstacle, record } from "../../test/crash-points/recording.ts";
import { SCRIPTS, WRITING_VERBS } from "../../test/crash-points/script.ts";
import type { Temper } from "../../test/crash-points/script.ts";
import { callPoints, pointsFor, strikeAll } from "../../test/crash-points/strikes.ts";
import type { CallPoint, Fault, Strike } from "../../test/crash-points/strikes.ts";
import { numbersFrom } from "./lib/options.ts";
import { progress } from "./lib/progress.ts";

const options = numbersFrom("crash-points.ts", { every: 1, "errors-every": 5 });
const VIOLATIONS_SHOWN = 10;
/** Enough to find a store that never keeps its word. */
const WEAK_EVERY = 12;

const reason = obstacle();
if (reason === null) await show();
else console.log(`not shown: ${reason}`);

async function show(): Promise<void> {
  const histories = await Promise.all(SCRIPTS.map((script) => readHistory(script)));
  const used = new Set(histories.flatMap(({ verbs }) => [...verbs]));
  const missing = WRITING_VERBS.filter((verb) => !used.has(verb));
  console.log(`verbs that write: ${WRITING_VERBS.join(", ")}`);
  console.log(`not in a script: ${missing.length === 0 ? "none" : missing.join(", ")}`);
  const found: boolean[] = [missing.length === 0];
  for (const history of histories) found.push(await strikeScript(history));
  const [first] = histories;
  if (first !== undefined) {
    found.push(await findsOut("early-ack", first), await findsOut("late-feed", first));
  }
  const sound = found.every(Boolean);
  console.log(sound ? "sound" : "VIOLATED");
  if (!sound) process.exitCode = 1;
}

async function strikeScript(history: History): Promise<boolean> {
  const { script, steps } = history;
  const points = callPoints(await record({ script }));
  console.log(
    `\nscript of ${script}: ${steps.length} steps, ` +
      `${points.length} points: ${tally(points, byCall)}`,
  );
  const errors = options["errors-every"];
  const isSound = [
    await strike("SIGKILL", pointsFor("SIGKILL", points, options.every), history),
    await strike("EIO", pointsFor("EIO", points, errors), history),
    await strike("EIO", pointsFor("EIO", points, errors), history, "stubborn"),
    await strike("ENOSPC", pointsFor("ENOSPC", points, errors), history),
    await strike("ENOSPC", pointsFor("ENOSPC", points, errors), history, "stubborn"),
  ];
  return isSound.every(Boolean);
}

async function strike(
  fault: Fault,
  points: readonly CallPoint[],
  history: History,
  temper?: Temper,
): Promise<boolean> {
  const name = temper === "stubborn" ? `${fault}, then asked again` : fault;
  const tell = progress(name, points.length);
  const strikes = await strikeAll(points, fault, history, { tell, temper });
  const violated = strikes.filter(({ violation }) => violation !== null);
  console.log(
    `${name}: ${strikes.length} points (${tally(strikes, ({ end }) => end)}), ` +
      `${violated.length} violations`,
  );
  for (const each of violated.slice(0, VIOLATIONS_SHOWN)) console.log(lineFor(each));
  return violated.length === 0;
}

/** True when the check notices a store that breaks this promise. */
async function findsOut(weakness: "early-ack" | "late-feed", history: History): Promise<boolean> {
  const points = pointsFor("SIGKILL", callPoints(await record({ weakness })), WEAK_EVERY);
  const strikes = await strikeAll(points, "SIGKILL", history, { weakness });
  const found = strikes.filter(({ violation }) => violation !== null);
  console.log(`planted ${weakness}: ${found.length} of ${points.length} kills find it`);
  for (const each of found.slice(0, 1)) console.log(lineFor(each));
  return found.length > 0;
}

function lineFor({ point, violation }: Strike): string {
  return `  at ${point.call} ${point.n} of ${point.path}: ${violation}`;
}

function byCall({ call, path }: CallPoint): string {
  return path === "acks" ? "acknowledgement" : call;
}

function tally<Item>(items: readonly Item[], by: (item: Item) => string): string {
  const groups = [...Map.groupBy(items, by)];
  return groups.map(([name, group]) => `${group.length} ${name}`).join(", ");
}
