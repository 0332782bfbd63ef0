/** A job in the words of the queue API: one row of the QueueJob table, made when it is read. */
import type { Json, JobView, Millrace, State, UnitView } from "millrace";

export type QueueStatus =
  | "queued"
  | "in_progress"
  | "completed"
  | "completed_with_errors"
  | "failed"
  | "cancelled";

export interface QueueJob {
  /** Crockford Base32; read in either case. */
  readonly id: string;
  readonly kind: string;
  readonly status: QueueStatus;
  readonly phase: string | null;
  readonly org: string;
  readonly project: string | null;
  readonly build: number | null;
  readonly progress: EditionProgress | Json;
  readonly errors: readonly JobError[] | null;
  readonly date_created: string;
  readonly date_started: string | null;
  readonly date_completed: string | null;
}

/** While editions are updated, and once the job is over. */
export interface EditionProgress {
  readonly editions_total: number;
  readonly editions_completed: readonly string[];
  readonly editions_failed: readonly FailedEdition[];
  readonly editions_in_progress: readonly string[];
}

export interface FailedEdition {
  readonly slug: string;
  readonly error: string;
}

/** An edition that failed, or the job as a whole. */
export type JobError = FailedEdition | { readonly error: string };

const EDITIONS = "editions";
const PAGE = 1_000;

/** Throws JOB_NOT_FOUND, which is a 404, for a job that has expired or never was. */
export async function queueJob(mill: Pick<Millrace, "jobs">, id: string): Promise<QueueJob> {
  const job = await mill.jobs.get(id);
  const editions = editionProgress(await unitsOf(mill, id));
  const hasEditions = job.phase === EDITIONS || job.finishedAt !== null;
  const isAboutEditions = hasEditions && editions.editions_total > 0;
  const { project, build } = job.tags;
  return {
    id: job.id,
    kind: job.type,
    status: statusOf(job.state),
    phase: job.phase,
    org: job.tenant,
    project: project ?? null,
    build: build === undefined ? null : Number(build),
    progress: isAboutEditions ? editions : (await mill.jobs.progress(id)).data,
    errors: errorsOf(job, editions.editions_failed),
    date_created: job.createdAt.toISOString(),
    date_started: job.startedAt?.toISOString() ?? null,
    date_completed: job.finishedAt?.toISOString() ?? null,
  };
}

export function statusOf(state: State): QueueStatus {
  if (state === "running") return "in_progress";
  // One that waits for its next attempt is back in the queue.
  return state === "scheduled" ? "queued" : state;
}

async function unitsOf(mill: Pick<Millrace, "jobs">, id: string): Promise<UnitView[]> {
  const found: UnitView[] = [];
  for (let next: string | null = ""; next !== null;) {
    const after = next === "" ? {} : { after: next };
    const page = await mill.jobs.units(id, { phase: EDITIONS, limit: PAGE, ...after });
    found.push(...page.units);
    ({ next } = page);
  }
  return found;
}

function editionProgress(units: readonly UnitView[]): EditionProgress {
  const having = (...states: readonly UnitView["state"][]): UnitView[] =>
    units.filter(({ state }) => states.includes(state));
  return {
    editions_total: units.length,
    editions_completed: having("completed").map(slugOf),
    editions_failed: having("failed").map((unit) => ({
      slug: slugOf(unit),
      error: unit.error?.message ?? "",
    })),
    editions_in_progress: having("planned", "running").map(slugOf),
  };
}

/** Units have the name of the edition, which begins with the project; a slug has no slash. */
function slugOf({ key }: UnitView): string {
  return key.slice(key.lastIndexOf("/") + 1);
}

function errorsOf(job: JobView, failed: readonly FailedEdition[]): readonly JobError[] | null {
  const errors = job.error === null ? failed : [...failed, { error: job.error.message }];
  return errors.length === 0 ? null : errors;
}
