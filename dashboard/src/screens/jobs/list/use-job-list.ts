/** Reads one page of jobs and keeps its rows in place while they change. */
import { useMemo, useRef } from "preact/hooks";
import { call, ApiProblem } from "../../../api/client.ts";
import type { Job } from "../../../api/operations.gen.ts";
import { useResource, type Resource } from "../../../live/resource.ts";
import { isFinal } from "./job-text.ts";
import type { JobQuery } from "./job-query.ts";
import { mergeRows } from "./live-rows.ts";

export interface Listed {
  readonly rows: readonly Job[];
  readonly fresh: number;
  readonly hasMoreFresh: boolean;
  readonly next: string | null;
  readonly isCutShort: boolean;
}

const PAGE = 50;
const PAGE_MAX = 200;
/** Rows that left the list are read one by one, so many at a time. */
const LOOKED_UP_MAX = 8;

export interface JobList {
  readonly list: Resource<Listed>;
  /** Loads the rows anew, with the new ones. */
  readonly loadNew: () => void;
}

export function useJobList(key: string, jobQuery: JobQuery, after: string | undefined): JobList {
  const page = useMemo(() => new Page(), [key]);
  const current = useRef({ jobQuery, after });
  current.current = { jobQuery, after };
  const list = useResource(
    key,
    (signal) => page.read(current.current.jobQuery, current.current.after, signal),
    // A search is dear: it is not repeated at every event.
    { on: ["job:"], restMs: jobQuery.isSearch ? 20_000 : 3_000, everyMs: 30_000 },
  );
  const loadNew = (): void => {
    page.forget();
    void list.reload();
  };
  return { list, loadNew };
}

class Page {
  #shown: Listed | null = null;

  forget(): void {
    this.#shown = null;
  }

  async read({ query, keep, wrong }: JobQuery, after: string | undefined, signal: AbortSignal) {
    if (wrong.length > 0) return EMPTY;
    const shown = this.#shown;
    const wanted = shown === null ? PAGE : PAGE * 2 + shown.fresh;
    const limit = keep === null ? Math.min(PAGE_MAX, wanted) : PAGE_MAX;
    const place = after === undefined ? {} : { after };
    const answer = await call("listJobs", { query: { ...query, ...place, limit }, signal });
    const jobs = keep === null ? answer.jobs : answer.jobs.filter(keep);
    const { next, cutShort } = answer;
    const listed =
      shown === null || shown.rows.length === 0
        ? { rows: jobs, fresh: 0, hasMoreFresh: false, next, isCutShort: cutShort }
        : await this.#merged(shown, jobs, signal);
    if (!signal.aborted) this.#shown = listed;
    return listed;
  }

  async #merged(shown: Listed, jobs: readonly Job[], signal: AbortSignal): Promise<Listed> {
    const { rows, fresh, hasMoreFresh, missing } = mergeRows(shown.rows, jobs);
    const open = rows.filter((job) => missing.includes(job.id) && !isFinal(job));
    const found = await Promise.all(
      open.slice(0, LOOKED_UP_MAX).map((job) => readOrKeep(job, signal)),
    );
    const byId = new Map(found.map((job) => [job.id, job]));
    return {
      ...shown,
      rows: rows.map((job) => byId.get(job.id) ?? job),
      fresh,
      hasMoreFresh,
    };
  }
}

const EMPTY: Listed = {
  rows: [],
  fresh: 0,
  hasMoreFresh: false,
  next: null,
  isCutShort: false,
};

/** A job that retention has removed keeps its last row. */
async function readOrKeep(job: Job, signal: AbortSignal): Promise<Job> {
  try {
    return await call("getJob", { params: { id: job.id }, signal });
  } catch (error) {
    if (error instanceof ApiProblem && error.status === 404) return job;
    throw error;
  }
}
