/**
 * A job is in the middle of a pipeline when a deploy changes it: phases are added, removed,
 * reordered or renamed. One process with the old release is killed (kill -9) or told to stop in a
 * phase, one with the new release goes on, and what comes of it is what docs/pipelines.md states.
 *
 *     node --conditions=source scripts/show/changed-deploys.ts [--store sqlite]
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { defineJob, openMillrace } from "millrace";
import type { Millrace } from "millrace";
import { table } from "../lib/table.ts";
import { asides } from "./lib/say-aside.ts";
import { startChild } from "./lib/fleet/children.ts";
import type { Child } from "./lib/fleet/children.ts";
import { LogReader } from "./lib/fleet/ledger.ts";
import { numbersAndStores } from "./lib/options.ts";
import type { StoreKind } from "./lib/options.ts";
import { Places } from "./lib/databases.ts";
import { CHANGES, resultsBefore, storedOf } from "./lib/pipelines/releases.ts";
import type { Change, ReleaseLine, ReleaseSettings } from "./lib/pipelines/releases.ts";
import { onStage } from "./lib/run-stages.ts";

const options = numbersAndStores("changed-deploys.ts", { every: 1 });
const PROGRAM = new URL("lib/pipelines/release.child.ts", import.meta.url);
const DOCS = new URL("../../docs/pipelines.md", import.meta.url);
const ENDS = ["SIGKILL", "SIGTERM"] as const;
const WAIT_MS_MAX = 30_000;
const changing = defineJob({ type: "changing" });
let deploys = 0;

interface Played {
  readonly row: readonly string[];
  readonly differences: readonly string[];
}

await onStage(async () => {
  const docs = readFileSync(DOCS, "utf8");
  const unstated = CHANGES.filter(({ rule }) => !docs.includes(rule));
  const differences = unstated.map(({ name }) => `${name}: docs/pipelines.md does not say it`);
  for (const kind of options.stores) {
    const played = await playOn(kind);
    const head = [
      "old release",
      "change",
      "before",
      "after",
      "ran",
      "steps done",
      "kept",
      "result of",
      "state",
    ];
    console.log(`\n${kind}`);
    for (const line of table(
      head,
      played.map(({ row }) => row),
    ))
      console.log(line);
    differences.push(
      ...played.flatMap((each) => each.differences.map((text) => `${kind}: ${text}`)),
    );
  }
  for (const text of differences) console.log(text);
  console.log(`\n${differences.length} differences from what is stated`);
  return { sound: differences.length === 0 };
});

async function playOn(kind: StoreKind): Promise<readonly Played[]> {
  await using places = await Places.open(kind);
  const scenes = ENDS.flatMap((end) => CHANGES.map((change) => ({ change, end }))).filter(
    (_, index) => index % Math.max(1, options.every) === 0,
  );
  const tell = asides(kind, scenes.length);
  const played: Played[] = [];
  for (const { change, end } of scenes) {
    played.push(await deploy(places, change, end));
    tell(played.length);
  }
  return played;
}

async function deploy(places: Places, change: Change, end: (typeof ENDS)[number]): Promise<Played> {
  const url = places.next();
  const log = join(places.folder, `phases-${(deploys += 1)}.jsonl`);
  const reader = new LogReader<ReleaseLine>(log);
  const mill = await openMillrace(url);
  const job = await mill.enqueue(changing);
  const { before, stuckIn, after } = change;
  const old = release(places, { url, log, mark: "old", phases: before, stuckIn });
  // Its step is stored when it says that it is stuck. One that never is is ended all the same.
  await Promise.race([old.ready, sleep(WAIT_MS_MAX, undefined, { ref: false })]);
  old.kill(end);
  const code = await old.ended;
  const next = release(places, { url, log, mark: "new", phases: after });
  // One that does not end is a difference, not the end of the show.
  await mill.wait(job, { timeout: WAIT_MS_MAX }).catch(() => null);
  next.kill("SIGTERM");
  await next.ended;
  const found = await foundIn(mill, job.id, change, reader, next.pid);
  await mill.close();
  const wayOut = end === "SIGKILL" ? "killed" : `stopped (${code})`;
  const lists = [before, after, found.ran, found.steps, found.kept].map((names) => names.join(" "));
  return {
    row: [wayOut, change.name, ...lists, found.result, found.state],
    differences: differencesOf(change, found).map((text) => `${wayOut}, ${change.name}: ${text}`),
  };
}

function release(places: Places, settings: ReleaseSettings): Child {
  return startChild({ program: PROGRAM, settings, log: join(places.folder, "words.txt") });
}

type Found = Awaited<ReturnType<typeof foundIn>>;

async function foundIn(
  mill: Millrace,
  id: string,
  { after, outcome }: Change,
  reader: LogReader<ReleaseLine>,
  pid: number,
) {
  const { state, result } = await mill.jobs.get(id);
  const { phases } = await mill.jobs.progress(id);
  const lines = reader.lines().filter((line) => line.pid === pid);
  const runs = lines.filter(({ what }) => what === "phase");
  const ran = runs.map(({ phase }) => phase);
  const whose = after.find((phase) => isDeepStrictEqual(result, storedOf(outcome, phase)));
  return {
    state,
    ran,
    runs,
    steps: lines.filter(({ what }) => what === "step").map(({ phase }) => phase),
    kept: phases
      .filter(({ name, state: shown }) => shown === "completed" && !ran.includes(name))
      .map(({ name }) => name),
    shown: phases.map(({ name, state: each }) => `${name} ${each}`),
    result: whose ?? JSON.stringify(result),
  };
}

function differencesOf(change: Change, found: Found): readonly string[] {
  const { after, outcome, stuckIn } = change;
  const misled = found.runs.filter(
    ({ phase, results }) => !isDeepStrictEqual(results, resultsBefore(change, phase)),
  );
  const shown = new Set(found.shown);
  const unshown = after.filter((name) => !shown.has(`${name} completed`));
  return [
    ...(found.state === "completed" ? [] : [`it is ${found.state}`]),
    ...differs("ran", found.ran, outcome.ran),
    // The step of the phase that was cut off is stored.
    ...differs(
      "did the steps of",
      found.steps,
      outcome.ran.filter((phase) => phase !== stuckIn),
    ),
    ...differs("kept", found.kept, outcome.kept),
    ...differs("result of", found.result, outcome.result),
    ...misled.map(({ phase }) => `${phase} was given other results than those before it`),
    ...unshown.map((name) => `${name} is not shown as completed: ${found.shown.join(", ")}`),
  ];
}

function differs(what: string, found: unknown, wanted: unknown): readonly string[] {
  if (isDeepStrictEqual(found, wanted)) return [];
  return [`${what} ${JSON.stringify(found)} instead of ${JSON.stringify(wanted)}`];
}
