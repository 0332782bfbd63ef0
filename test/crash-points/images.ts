/** The images that a loss of power may leave of each moment, and the judgement of many of them. */
import { createHash } from "node:crypto";
import { rmSync } from "node:fs";
import { join } from "node:path";
import type { Dice } from "../../src/core/clock.ts";
import { temporaryFolder } from "../e2e/children.ts";
import { seededDice } from "../support/seeded-dice.ts";
import { SECTOR_BYTES } from "./disk.ts";
import type { Disk, Moment } from "./disk.ts";
import { judge } from "./history.ts";
import type { History } from "./history.ts";
import type { Effect } from "./recording.ts";

/** What became of the pending effects of a moment. */
export interface Image {
  readonly moment: Moment;
  readonly kind: "none" | "all" | "prefix" | "dropped" | "alone" | "torn" | "random";
  readonly reached: () => readonly Effect[];
}

export interface ImageCount {
  /** Different images that were opened, by kind. */
  readonly judged: ReadonlyMap<Image["kind"], number>;
  readonly violations: readonly string[];
}

/**
 * All simple images of every moment and some random ones. First those in which everything unsynced
 * is gone, the hardest test of a promise; the rest is shuffled, so that any beginning is a sample.
 */
export function imagesOf(
  moments: readonly Moment[],
  { seed, randomPerMoment }: { readonly seed: number; readonly randomPerMoment: number },
): readonly Image[] {
  const dice = seededDice(seed);
  const bare = moments.map((moment): Image => ({ moment, kind: "none", reached: () => [] }));
  const rest = moments.flatMap((moment) => [
    ...wholeImages(moment),
    ...tornImages(moment, dice),
    ...randomImages(moment, randomPerMoment, dice),
  ]);
  return [...bare, ...shuffled(rest, dice)];
}

function wholeImages(moment: Moment): Image[] {
  const { pending } = moment;
  const each = (kind: Image["kind"], reached: (index: number) => readonly Effect[]): Image[] =>
    pending.map((_, index) => ({ moment, kind, reached: () => reached(index) }));
  return [
    { moment, kind: "all", reached: () => pending },
    ...each("prefix", (index) => pending.slice(0, index)),
    ...each("dropped", (index) => pending.toSpliced(index, 1)),
    ...each("alone", (index) => pending.slice(index, index + 1)),
  ];
}

/** Each write of several sectors, cut after some of them: as the last of all, or amid them. */
function tornImages(moment: Moment, dice: Dice): Image[] {
  const { pending } = moment;
  return pending.flatMap((effect, index): Image[] => {
    const torn = tear(effect, dice);
    if (torn === effect) return [];
    const last = [...pending.slice(0, index), torn];
    const amid = pending.with(index, torn);
    return [last, amid].map((effects) => ({ moment, kind: "torn", reached: () => effects }));
  });
}

/** Each effect by the toss of a coin, some of the writes torn. */
function randomImages(moment: Moment, length: number, dice: Dice): Image[] {
  if (moment.pending.length < 2) return [];
  return Array.from({ length }, () => {
    const effects = moment.pending
      .filter(() => dice.random() < 0.5)
      .map((effect) => (dice.random() < 0.2 ? tear(effect, dice) : effect));
    return { moment, kind: "random", reached: () => effects };
  });
}

/** The first sectors of a write, or the last ones. What fits into one sector is never torn. */
function tear(effect: Effect, dice: Dice): Effect {
  if (effect.kind !== "write" || effect.bytes.length <= SECTOR_BYTES) return effect;
  const sectors = Math.ceil(effect.bytes.length / SECTOR_BYTES);
  const cut = SECTOR_BYTES * (1 + Math.floor(dice.random() * (sectors - 1)));
  if (dice.random() < 0.5) return { ...effect, bytes: effect.bytes.subarray(0, cut) };
  return { ...effect, offset: effect.offset + cut, bytes: effect.bytes.subarray(cut) };
}

function shuffled<Item>(items: readonly Item[], dice: Dice): Item[] {
  const keyed = items.map((item) => ({ item, at: dice.random() }));
  return keyed.toSorted((left, right) => left.at - right.at).map(({ item }) => item);
}

/** Opens images until as many different ones as wanted were judged, or none is left. */
export async function judgeImages(
  images: readonly Image[],
  history: History,
  { wanted, tell }: { readonly wanted: number; readonly tell?: (done: number) => void },
): Promise<ImageCount> {
  using stage = temporaryFolder();
  const seen = new Set<string>();
  const judged = new Map<Image["kind"], number>();
  const violations: string[] = [];
  for (const { moment, kind, reached } of images) {
    if (seen.size >= wanted) break;
    const disk = moment.synced.after(reached());
    const print = fingerprint(disk, moment.acked);
    if (seen.has(print)) continue;
    seen.add(print);
    const folder = join(stage.path, "image");
    disk.writeTo(folder);
    const violation = await judge(folder, moment.acked, "power", history);
    if (violation !== null) violations.push(`${kind}: ${violation}`);
    judged.set(kind, (judged.get(kind) ?? 0) + 1);
    rmSync(folder, { recursive: true });
    tell?.(seen.size);
  }
  return { judged, violations };
}

function fingerprint(disk: Disk, acked: number): string {
  const hash = createHash("sha256").update(String(acked));
  for (const [name, bytes] of disk.files())
    hash.update(`\n${name} ${bytes.length}\n`).update(bytes);
  return hash.digest("hex");
}
