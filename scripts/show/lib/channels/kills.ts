/** Kills a process at one moment of a supervised process, lets another take over, and judges. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { JobStore } from "../../../../src/store/store.ts";
import { openStore, type Places } from "../databases.ts";
import { startChild } from "../fleet/children.ts";
import { LogReader } from "../fleet/ledger.ts";
import {
  ACCEPTED,
  PLACES,
  type ChannelLine,
  type ChannelSettings,
  type Place,
} from "./channels.ts";

const PROGRAM = new URL("channels.child.ts", import.meta.url);
const RUN_MS_MAX = 90_000;
const PAGE = { limit: 100 } as const;

/** A failpoint of the store, or a place in the code of the application. */
export type Moment =
  | { readonly kind: "verb"; readonly name: string; readonly pass: number }
  | { readonly kind: "place"; readonly name: Place; readonly pass: number };

export interface Killed {
  readonly moment: Moment;
  /** False: the process did not come by so often. */
  readonly isKilled: boolean;
  readonly calls: number;
  readonly facts: number;
  readonly violations: readonly string[];
}

/** How often an undisturbed process calls each verb. */
export async function callsOf(
  places: Places,
  leaseMs: number,
): Promise<ReadonlyMap<string, number>> {
  const stage = new Stage(places, leaseMs);
  const calls = join(places.folder, "calls.json");
  await stage.run({ calls });
  const read: Record<string, number> = JSON.parse(readFileSync(calls, "utf8"));
  return new Map(Object.entries(read));
}

export async function killAt(places: Places, leaseMs: number, moment: Moment): Promise<Killed> {
  const stage = new Stage(places, leaseMs);
  const { name, pass } = moment;
  const victim = await stage.run(
    moment.kind === "place" ? { death: { place: moment.name, pass } } : {},
    moment.kind === "verb" ? `${name}=kill@${pass}` : null,
  );
  const isKilled = victim === "SIGKILL";
  const store = await openStore(stage.url);
  try {
    const between = await pictureOf(store);
    const heir = isKilled ? await stage.run({}) : victim;
    const after = await pictureOf(store);
    const lines = stage.lines();
    const violations = [
      ...(heir === 0 ? [] : [`the process that took over ended with ${heir}`]),
      ...aliveViolations(between, "after the kill"),
      ...endViolations(after),
      ...factViolations(lines, isKilled ? 2 : 1),
      ...ledgerViolations(after, lines),
    ];
    const facts = lines.filter(({ what }) => what === "succeeded" || what === "failed").length;
    const calls = lines.filter(({ what }) => what === "called").length;
    return { moment, isKilled, calls, facts, violations };
  } finally {
    await store.close();
  }
}

/** Every place, at each of its passes. */
export function placesToDie(): readonly Moment[] {
  return PLACES.flatMap((name) =>
    Array.from(
      { length: ACCEPTED },
      (_, index) => ({ kind: "place", name, pass: index + 1 }) as const,
    ),
  );
}

/** One database and one log, for the processes that come one after the other. */
class Stage {
  readonly url: string;
  readonly #places: Places;
  readonly #settings: ChannelSettings;

  constructor(places: Places, leaseMs: number) {
    this.#places = places;
    this.url = places.next();
    const log = join(places.folder, `channels-${(stages += 1)}.jsonl`);
    this.#settings = { url: this.url, log, leaseMs };
  }

  lines(): readonly ChannelLine[] {
    return new LogReader<ChannelLine>(this.#settings.log).lines();
  }

  async run(
    more: Partial<ChannelSettings>,
    failpoint: string | null = null,
  ): Promise<number | NodeJS.Signals> {
    const child = startChild({
      program: PROGRAM,
      settings: { ...this.#settings, ...more },
      log: join(this.#places.folder, "words.txt"),
      env: failpoint === null ? {} : { MILLRACE_FAILPOINTS: failpoint },
    });
    const timer = setTimeout(() => child.kill("SIGABRT"), RUN_MS_MAX);
    const end = await child.ended;
    clearTimeout(timer);
    return end;
  }
}

let stages = 0;

type Picture = Awaited<ReturnType<typeof pictureOf>>;

async function pictureOf(store: JobStore) {
  const ids = (await store.list({}, PAGE)).jobs.map(({ id }) => id);
  const jobs = await Promise.all(ids.map((id) => store.get(id)));
  return jobs.filter((job) => job !== null);
}

/** The supervisor is one job from its first moment to its last. */
function aliveViolations(jobs: Picture, when: string): string[] {
  const supervisors = jobs.filter(({ type }) => type === "supervisor");
  // A process that died before its enqueue has left nothing.
  return supervisors.length <= 1 ? [] : [`${supervisors.length} supervisors ${when}`];
}

function endViolations(jobs: Picture): string[] {
  const supervisors = jobs.filter(({ type }) => type === "supervisor");
  const attempts = jobs.filter(({ type }) => type === "message");
  const result = supervisors[0]?.result ?? "";
  return [
    ...(supervisors.length === 1 ? [] : [`${supervisors.length} supervisors at the end`]),
    ...(result.includes('"status":"succeeded"') ? [] : [`the process ended with ${result}`]),
    ...(attempts.length === ACCEPTED ? [] : [`${attempts.length} attempts in the store`]),
    ...attempts
      .filter(({ state }) => state !== "completed")
      .map(({ id, state }) => `attempt ${id} is ${state}`),
  ];
}

/** At least one call and one fact per attempt, no fact without its call, none of the other kind. */
function factViolations(lines: readonly ChannelLine[], processes: number): string[] {
  const found: string[] = [];
  const called = new Map<number, number>();
  for (const { what, attempt } of lines) {
    const isAccepted = attempt === ACCEPTED;
    if (what === "called") {
      called.set(attempt, (called.get(attempt) ?? 0) + 1);
      continue;
    }
    if (!called.has(attempt)) found.push(`attempt ${attempt}: ${what} without a call`);
    if (what === "succeeded" && !isAccepted) found.push(`attempt ${attempt} was never accepted`);
    if (what === "failed" && isAccepted) found.push(`attempt ${attempt} was accepted`);
  }
  for (let attempt = 1; attempt <= ACCEPTED; attempt += 1) {
    const calls = called.get(attempt) ?? 0;
    const kind = attempt === ACCEPTED ? "succeeded" : "failed";
    const facts = lines.filter((line) => line.attempt === attempt && line.what === kind).length;
    if (calls < 1 || calls > processes) found.push(`attempt ${attempt}: ${calls} calls`);
    if (facts < 1 || facts > processes) found.push(`attempt ${attempt}: ${facts} facts`);
  }
  const repeats = [...called.values()].filter((calls) => calls > 1).length;
  if (repeats > processes - 1) found.push(`${repeats} attempts were sent twice after one death`);
  return found;
}

/** The ledger tells of each attempt what the provider has answered. */
function ledgerViolations(jobs: Picture, lines: readonly ChannelLine[]): string[] {
  const attempts = jobs.filter(({ type }) => type === "message");
  const succeeded = attempts.filter(({ outcome }) => outcome === "succeeded").length;
  const failed = attempts.filter(({ outcome }) => outcome === "failed").length;
  const kinds = (what: ChannelLine["what"]): number =>
    new Set(lines.filter((line) => line.what === what).map(({ attempt }) => attempt)).size;
  return [
    ...(succeeded === kinds("succeeded") ? [] : [`${succeeded} successes in the ledger`]),
    ...(failed === kinds("failed") ? [] : [`${failed} failures in the ledger`]),
    ...(kinds("over") === 1 ? [] : ["the end of the process was not told"]),
  ];
}
