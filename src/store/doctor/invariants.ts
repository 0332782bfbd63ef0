/**
 * Invariants of an installation, the same on both databases. Each has a query in
 * `sql/<dialect>/queries/invariants.sql`, which answers the jobs that violate it. Constraints of
 * the databases ensure that payloads and results are JSON.
 */
import type { JobId } from "../../core/job.ts";
import { words } from "./fixes.ts";
import { CATALOGUE, type InvariantDescription, type InvariantQuery } from "./catalogue.ts";
import type { JobKey } from "../types/jobs-and-runs.ts";
import type { CountName, Stats } from "../types/records.ts";

export type { Fix, QualifyTable } from "./fixes.ts";
export type { InvariantQuery } from "./catalogue.ts";

export interface Invariant extends InvariantDescription {
  /** The query that finds violations. */
  readonly query: InvariantQuery;
}

/** A job that violates an invariant. If its row is missing, only a key or an id is known. */
export interface OffendingJob {
  readonly key: JobKey | null;
  readonly id: JobId | null;
  /** Of what is no job, such as a schedule. */
  readonly name?: string;
}

/** A violated invariant, and the jobs that violate it. */
export interface BrokenInvariant {
  readonly invariant: Omit<Invariant, "query" | "isDeep">;
  /** At most {@link OFFENDING_JOBS_MAX}. */
  readonly offenders: readonly OffendingJob[];
}

/** The maximum of jobs per invariant. Further jobs are found after these are fixed. */
export const OFFENDING_JOBS_MAX = 1_000;

/** In the order of checking. */
export const INVARIANTS: readonly Invariant[] = invariants();

/** The counts that are compared with a recount of all jobs. */
export type Counts = Pick<Stats, CountName>;

/** A finding if the statistics differ from a recount. */
export function miscounted(stats: Counts, recount: Counts): readonly BrokenInvariant[] {
  const names = ["scheduled", "queued", "held", "running", "failed"] as const;
  const wrong = names.filter((name) => stats[name] !== recount[name]);
  if (wrong.length === 0) return [];
  const figures = wrong.map((name) => `${stats[name]} instead of ${recount[name]} ${name}`);
  const invariant = {
    number: "I19",
    name: "miscount",
    means: `the statistics say ${figures.join(", ")}`,
    fix: words("Fix the other findings, then rebuild the indexes of the database: REINDEX."),
  };
  return [{ invariant, offenders: [] }];
}

function invariants(): Invariant[] {
  const all: Invariant[] = [];
  for (const query in CATALOGUE) if (isQuery(query)) all.push({ query, ...CATALOGUE[query] });
  return all;
}

function isQuery(name: string): name is InvariantQuery {
  return name in CATALOGUE;
}
