/** What all voyages come to, fault by fault. */
import type { Finding } from "../show/lib/fleet/history.ts";
import { table } from "../lib/table.ts";
import type { Round, Voyage } from "./voyage.ts";

export interface Row {
  readonly fault: string;
  rounds: number;
  /** How often it struck, also beside another fault. The rest is told of the rounds it led. */
  struck: number;
  acked: number;
  lost: number;
  /** Finishes or effects that happened twice, or overlapped, or were not fenced. */
  doubled: number;
  /** All other findings of the checker. */
  other: number;
  takeovers: number;
  /** Takeovers from a worker that was alive by its signs of life. */
  fromLiving: number;
  /** Ends that were refused because their lease was over. */
  stale: number;
  exits: number;
  slowestResumeMs: number;
}

/** A row for each fault, and one for all of them. */
export function tally(voyages: readonly Voyage[]): readonly Row[] {
  const rows = new Map<string, Row>();
  const rowOf = (fault: string): Row => {
    const row = rows.get(fault) ?? emptyRow(fault);
    rows.set(fault, row);
    return row;
  };
  for (const voyage of voyages) {
    for (const round of voyage.rounds) countRound(round, rowOf);
    countVoyage(voyage, rowOf);
  }
  const found = [...rows.values()];
  return [...found, found.reduce(sum, emptyRow("all"))];
}

function emptyRow(fault: string): Row {
  return {
    fault,
    rounds: 0,
    struck: 0,
    acked: 0,
    lost: 0,
    doubled: 0,
    other: 0,
    takeovers: 0,
    fromLiving: 0,
    stale: 0,
    exits: 0,
    slowestResumeMs: 0,
  };
}

function countRound(round: Round, rowOf: (fault: string) => Row): void {
  const row = rowOf(round.fault);
  row.rounds += 1;
  row.stale += round.stale;
  row.slowestResumeMs = Math.max(row.slowestResumeMs, Math.round(round.resumedMs ?? 0));
  for (const [fault, times] of Object.entries(round.struck)) rowOf(fault).struck += times;
}

function countVoyage(voyage: Voyage, rowOf: (fault: string) => Row): void {
  const { rounds, ending, history } = voyage;
  const rowAt = (at: number | undefined): Row => {
    const round = rounds.findLast(({ from }) => from <= (at ?? Number.POSITIVE_INFINITY));
    return rowOf((round ?? rounds[0])?.fault ?? "");
  };
  const ackedAt = new Map(history.acks.map(({ id, at }) => [id, at]));
  const exitedAt = new Map((history.exits ?? []).map(({ pid, at }) => [`process ${pid}`, at]));
  for (const [, at] of ackedAt) rowAt(at).acked += 1;
  for (const { kind, to, fromLiving } of ending.successions) {
    if (kind !== "takeover" && kind !== "repeat") continue;
    rowAt(to.startedAt).takeovers += 1;
    if (fromLiving) rowAt(to.startedAt).fromLiving += 1;
  }
  for (const { kind, job } of ending.findings) {
    rowAt(ackedAt.get(job) ?? exitedAt.get(job))[COLUMN[kind]] += 1;
  }
}

const COLUMN: Readonly<Record<Finding["kind"], "lost" | "doubled" | "exits" | "other">> = {
  lost: "lost",
  doubled: "doubled",
  overlap: "doubled",
  unfenced: "doubled",
  copied: "doubled",
  childless: "other",
  unlike: "other",
  unheeded: "other",
  early: "other",
  shared: "doubled",
  disordered: "other",
  repeated: "doubled",
  garbled: "other",
  exit: "exits",
  ailing: "other",
};

function sum(all: Row, row: Row): Row {
  const added = Object.entries(row).map(([name, value]: [string, string | number]) => {
    const before = Reflect.get(all, name);
    if (name === "slowestResumeMs") return [name, Math.max(before, Number(value))];
    return [name, name === "fault" ? all.fault : before + Number(value)];
  });
  return Object.fromEntries(added);
}

export function tallyTable(rows: readonly Row[]): readonly string[] {
  const head = ["fault", "rounds", "struck", "acked", "lost", "doubled", "other"];
  return table(
    [...head, "takeovers", "from living", "stale", "exits", "slowest resume ms"],
    rows.map((row) => [
      row.fault,
      ...[row.rounds, row.struck, row.acked, row.lost, row.doubled, row.other].map(String),
      ...[row.takeovers, row.fromLiving, row.stale, row.exits, row.slowestResumeMs].map(String),
    ]),
  );
}
