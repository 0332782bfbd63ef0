/**
 * What must be true of an installation at every moment, the same on both databases. Each entry has
 * its query in `sql/<dialect>/queries/invariants.sql`, which answers the jobs of which it is not
 * true. That payloads and results are JSON the databases see to themselves.
 */
import type { JobId } from "../../core/job.ts";
import { words } from "./fixes.ts";
import { CATALOGUE, type InvariantDescription, type InvariantQuery } from "./catalogue.ts";
import type { JobKey } from "../types/jobs-and-runs.ts";
import type { Stats } from "../types/records.ts";

export type { Fix, QualifyTable } from "./fixes.ts";
export type { InvariantQuery } from "./catalogue.ts";

export interface Invariant extends InvariantDescription {
  /** The query that looks for brokenInvariants. */
  readonly query: InvariantQuery;
}

/** A job of which something is not true; what has no job row any more has only a key or an id. */
export interface OffendingJob {
  readonly key: JobKey | null;
  readonly id: JobId | null;
}

/** Something that is not true, and of which jobs. */
export interface BrokenInvariant {
  readonly invariant: Omit<Invariant, "query" | "isDeep">;
  /** At most {@link OFFENDING_JOBS_MAX}. */
  readonly offenders: readonly OffendingJob[];
}

/** Breakers that are counted; what is found beyond that is found after these are mended. */
export const OFFENDING_JOBS_MAX = 1_000;

/** In the order in which they are looked at. */
export const INVARIANTS: readonly Invariant[] = invariants();

/** The figures that both the statistics and a recount of all jobs have. */
export type Counts = Omit<Stats, "oldestQueuedMs">;

/** What the statistics say otherwise than the jobs themselves. */
export function miscounted(stats: Counts, recount: Counts): readonly BrokenInvariant[] {
  const names = ["scheduled", "queued", "held", "running", "failed"] as const;
  const wrong = names.filter((name) => stats[name] !== recount[name]);
  if (wrong.length === 0) return [];
  const figures = wrong.map((name) => `${stats[name]} instead of ${recount[name]} ${name}`);
  const invariant = {
    number: "I19",
    name: "miscount",
    means: `the statistics say ${figures.join(", ")}`,
    fix: words("Fix what else is found, then let the database rebuild its indexes: REINDEX."),
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
