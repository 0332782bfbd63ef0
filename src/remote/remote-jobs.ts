/** `mill.jobs` of a server. */
import type { JobPage, Jobs, JobView } from "../api/client.ts";
import type { JobFilter } from "../api/control/job-filter.ts";
import type { AttemptView } from "../api/jobs.ts";
import type { LogView } from "../api/logs.ts";
import type { UnitView } from "../api/progress.ts";
import { durationMs } from "../core/duration.ts";
import { MillraceError } from "../core/errors.ts";
import { withDates } from "./dates.ts";
import { readPages } from "./pages.ts";
import type { ServerCalls } from "./server-calls.ts";

/** What a server offers of `mill.jobs`. */
export type RemoteJobs = Omit<Jobs, "count" | "holders">;

export function jobPath(id: string, part = ""): string {
  return `/api/v1/jobs/${encodeURIComponent(id)}${part}`;
}

export function remoteJobs(calls: ServerCalls): RemoteJobs {
  const read = async (id: string, part: string, query = {}): Promise<any> =>
    withDates(await calls.json(jobPath(id, part), { query }));
  const post = (id: string, verb: string, body: object): Promise<any> =>
    calls.json(jobPath(id, `/${verb}`), { method: "POST", body }).then(withDates);
  return {
    get: async (id) => withDates(await calls.json<JobView>(jobPath(id))),
    details: (id) => read(id, "/details"),
    texts: (id) => calls.json(jobPath(id, "/texts")),
    async findIds(prefix, limit) {
      const query = { prefix, limit };
      return (await calls.json<{ ids: string[] }>("/api/v1/job-ids", { query })).ids;
    },
    list: (filter = {}) => listJobs(calls, filter),
    cancel: (id, reason) => post(id, "cancel", { reason }),
    // The server records whom the token belongs to.
    retry: (id, { restart, reason } = {}) => post(id, "retry", { restart, reason }),
    fail: (id, message, { retry } = {}) => post(id, "fail", { message, retry }),
    // As in the library: without an option, also a run whose worker is alive is released.
    release: (id, { force = true, reason } = {}) => post(id, "release", { force, reason }),
    setPriority: (id, priority, { reason } = {}) => post(id, "priority", { priority, reason }),
    reschedule: (id, due, { reason } = {}) => {
      const at = "runAt" in due ? { runAt: instantText(due.runAt) } : due;
      return post(id, "reschedule", { ...at, reason });
    },
    async attempts(id): Promise<AttemptView[]> {
      return (await read(id, "/attempts")).attempts;
    },
    progress: (id) => read(id, "/progress"),
    async units(id, { limit, after, ...filter } = {}) {
      const { entries, next } = await readPages<UnitView, string>(
        { limit, after },
        async (page) => {
          const found = await read(id, "/units", { ...filter, ...page });
          return { entries: found.units, next: found.next };
        },
      );
      return { units: entries, next };
    },
    async logs(id, { limit, after } = {}) {
      const { entries, next } = await readPages<LogView, number>({ limit, after }, async (page) => {
        const found = await read(id, "/logs", page);
        return { entries: found.lines, next: found.next };
      });
      return { lines: entries, next };
    },
    explain: (id) => read(id, "/explain"),
    stats: () => calls.json("/api/v1/stats"),
    statsBy: (by) => calls.json(`/api/v1/stats/${by}`),
  };
}

/** A page that was cut short is the last one: its reader decides whether to continue. */
async function listJobs(calls: ServerCalls, filter: JobFilter): Promise<JobPage> {
  const { limit, after, ...rest } = filter;
  let cut: string | null = null;
  const { entries, next } = await readPages({ limit, after }, async (page) => {
    const query = { ...queryOf(rest), ...page };
    const found = withDates(await calls.json<JobPage>("/api/v1/jobs", { query }));
    if (found.cutShort) cut = found.next;
    return { entries: found.jobs, next: found.cutShort ? null : found.next };
  });
  return { jobs: entries, next: cut ?? next, cutShort: cut !== null };
}

function queryOf({
  state,
  tags,
  correlationId,
  parentId,
  createdAfter,
  createdBefore,
  runningLongerThan,
  type,
  tenant,
  category,
  lane,
  error,
  payload,
  text,
}: JobFilter): Record<string, string | readonly string[] | undefined> {
  return {
    type,
    tenant,
    category,
    lane,
    error,
    text,
    payload: payload && Object.entries(payload).map(([path, value]) => pairOf(path, value)),
    state: state === undefined ? undefined : [state].flat(),
    tag: tags && Object.entries(tags).map(([name, value]) => `${name}:${value}`),
    correlation_id: correlationId,
    parent_id: parentId,
    created_after: instantText(createdAfter),
    created_before: instantText(createdBefore),
    running_longer_than:
      runningLongerThan === undefined
        ? undefined
        : `${durationMs(runningLongerThan, "runningLongerThan")}ms`,
  };
}

/** The first colon of a pair ends the path. */
function pairOf(path: string, value: string): string {
  if (!path.includes(":")) return `${path}:${value}`;
  const message = `jobs.list: the path ${path} has a colon, and a server cannot be asked for it`;
  throw new MillraceError("OPTION_INVALID", message, { details: { option: "payload" } });
}

export function instantText(instant: JobFilter["createdAfter"]): string | undefined {
  if (instant === undefined || typeof instant === "string") return instant;
  return new Date(instant).toISOString();
}
