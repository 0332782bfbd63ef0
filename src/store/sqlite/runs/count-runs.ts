/** Counts runs that have ended, in the transaction that writes their ledger rows. */
import type { OutcomeName } from "../../../core/outcome.ts";
import { outcomeCodec } from "../../shared/codes.ts";
import { outboxRows } from "../../shared/minutes.ts";
import type { Session } from "../database/session.ts";
import type { EndedRun } from "./attempts.ts";

/** A run that had not started is not counted, nor is one whose job has no row. */
export function countRuns(
  { sql }: Session,
  ends: readonly (Pick<EndedRun, "key" | "rank" | "startedAt"> & {
    readonly outcome: OutcomeName;
  })[],
  now: number,
): void {
  if (ends.length === 0) return;
  const keys = JSON.stringify(ends.map(({ key }) => key));
  const jobs = new Map(
    sql.tuples("type_and_lane", { keys }).map(([key, type, lane]) => [key, { type, lane }]),
  );
  const counted = ends.flatMap(({ key, rank, startedAt, outcome }) => {
    const job = jobs.get(key);
    if (job === undefined || startedAt === null) return [];
    const waitMs = startedAt - Math.floor(rank / 1_000);
    return [{ ...job, outcome: outcomeCodec.code[outcome], waitMs, runMs: now - startedAt }];
  });
  for (const { waits, runs, ...row } of outboxRows(now, counted)) {
    const lists = { waits: JSON.stringify(waits), runs: JSON.stringify(runs) };
    sql.run("append_minute", { ...row, ...lists });
  }
}
