/**
 * Zombies: a worker is stopped in the middle of a job until its lease is over and another worker
 * has finished the job; then it wakes, finishes too, and changes nothing.
 *
 *     node --conditions=source scripts/show/zombies.ts [--rounds 50] [--parallel 5]
 */
import { isDeepStrictEqual } from "node:util";
import { setTimeout as sleep } from "node:timers/promises";
import { Fleet } from "./lib/fleet/fleet.ts";
import type { LedgerLine } from "./lib/fleet/ledger.ts";
import { numbersFrom } from "./lib/options.ts";
import { onStage } from "./lib/run-stages.ts";
import { until } from "./lib/until.ts";
import { linesOf } from "./lib/check/verdict.ts";

const options = numbersFrom("zombies.ts", { rounds: 50, parallel: 5, lease: 500 });
const WAIT_MS_MAX = 20_000;
/** How long a zombie may take to settle after its last line. */
const SETTLE_MS = 500;

/** `void`: it was stopped inside a transaction, so that no worker could take anything over. */
type Round = "unchanged" | "changed" | "void";

await onStage(async () => {
  const share = Math.ceil(options.rounds / options.parallel);
  const counts = Array.from({ length: options.parallel }, (_, stage) =>
    Math.max(0, Math.min(share, options.rounds - stage * share)),
  );
  const stages = await Promise.all(counts.map(playRounds));
  const rounds = stages.flatMap((stage) => stage.rounds);
  const count = (result: Round): number => rounds.filter((round) => round === result).length;
  const told = `${count("unchanged")} of ${options.rounds} zombies changed nothing`;
  console.log(`${told}; ${count("void")} rounds were played again`);
  // A few rounds are stopped inside a transaction by chance.
  const isComplete =
    count("unchanged") === options.rounds && count("void") <= Math.max(2, options.rounds / 10);
  return { sound: isComplete && stages.every(({ sound }) => sound) };
});

/** Two workers and one store, round after round. */
async function playRounds(wanted: number): Promise<{ rounds: Round[]; sound: boolean }> {
  await using fleet = await Fleet.open({
    name: "zombies",
    workers: 2,
    work: { lanes: { general: 1 }, lease: options.lease, poll: 100 },
  });
  const rounds: Round[] = [];
  while (rounds.filter((round) => round !== "void").length < wanted && rounds.length < 2 * wanted) {
    rounds.push(await playRound(fleet));
  }
  const verdict = await fleet.finish();
  for (const line of linesOf(verdict)) console.log(line);
  const sound = verdict.findings.length === 0 && verdict.lateEnds >= wanted;
  if (!sound || rounds.includes("changed")) fleet.keep();
  return { rounds, sound };
}

/** The store must say after the zombie's end exactly what it said before. */
async function playRound(fleet: Fleet): Promise<Round> {
  const [job = ""] = await fleet.place([{ act: { kind: "wait", ms: 300, heedsAbort: false } }]);
  const first = await lineOf(fleet, (line) => line.job === job);
  process.kill(first.pid, "SIGSTOP");
  const isFinished = await finished(fleet, job);
  const before = await recordOf(fleet, job);
  process.kill(first.pid, "SIGCONT");
  await lineOf(fleet, ({ job: id, fence, what }) => {
    return id === job && fence === first.fence && what === "end";
  });
  await sleep(SETTLE_MS);
  if (!isFinished) {
    await fleet.drain();
    return "void";
  }
  const after = await recordOf(fleet, job);
  const successes = after.attempts.filter(({ outcome }) => outcome === "succeeded");
  const isFenced = successes.length === 1 && (successes[0]?.fence ?? 0) > first.fence;
  return isFenced && isDeepStrictEqual(before, after) ? "unchanged" : "changed";
}

/** False when no worker has finished the job within the limit. */
async function finished({ mill }: Fleet, job: string): Promise<boolean> {
  const final = until("another worker has finished the job", WAIT_MS_MAX, async () => {
    const { state } = await mill.jobs.get(job);
    return state !== "running" && state !== "queued" && state !== "scheduled";
  });
  return await final.catch(() => false);
}

function lineOf(fleet: Fleet, fits: (line: LedgerLine) => boolean): Promise<LedgerLine> {
  return until("the ledger has the line", WAIT_MS_MAX, () => {
    return fleet.ledger.lines().find(fits) ?? null;
  });
}

async function recordOf({ mill }: Fleet, job: string) {
  return { job: await mill.jobs.get(job), attempts: await mill.jobs.attempts(job) };
}
