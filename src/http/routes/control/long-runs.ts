/** `GET /api/v1/running`: the jobs that have run longest, with their units. */
import { z } from "@hono/zod-openapi";
import type { JobView } from "../../../api/client.ts";
import type { UnitCounts } from "../../../api/progress.ts";
import { MillraceError } from "../../../core/errors.ts";
import { SEE } from "../../identity/identity.ts";
import type { AppParts, HttpMill } from "../../parts.ts";
import { Redactor } from "../../redaction.ts";
import { route, type Route } from "../../route.ts";
import { UNIT_COUNTS } from "../../schemas/job-parts.ts";
import { JOB } from "../../schemas/jobs.ts";
import { redactedJob } from "../../views.ts";

const RUNS_MAX = 10;
/** The running jobs that are compared. */
const READ_MAX = 1_000;
/** Runs that are looked for when more than `READ_MAX` jobs run. */
const LONG = "10m";

const LONG_RUNS = z
  .strictObject({
    runs: z.array(z.strictObject({ job: JOB, units: UNIT_COUNTS })).openapi({
      description: `At most ${RUNS_MAX}. \`units\` are those of all phases of the job.`,
    }),
    cutShort: z.boolean().openapi({
      description: "True when so many jobs run that a longer run may be missing.",
    }),
  })
  .openapi("LongRuns");

export function longRunRoutes({ redaction }: AppParts): readonly Route[] {
  const form = {
    method: "get",
    path: "/api/v1/running",
    name: "listRunning",
    summary: "Lists the jobs that have run longest, longest first, with the counts of their units.",
    access: SEE,
    answers: { 200: { description: "The longest runs.", schema: LONG_RUNS } },
    problems: [],
  } as const;
  return [
    route(form, async ({ mill, identity }) => {
      const redactor = new Redactor(redaction, identity);
      const { jobs, cutShort } = await longestRuns(mill);
      const units = await Promise.all(jobs.map(({ id }) => unitsOf(mill, id)));
      const runs = jobs.flatMap((job, index) => {
        const counts = units[index] ?? null;
        return counts === null ? [] : [{ job: redactedJob(job, redactor), units: counts }];
      });
      return Response.json({ runs, cutShort });
    }),
  ];
}

/** A list has the newest jobs first: of too many, those with a long run are asked for as well. */
async function longestRuns({ jobs }: HttpMill) {
  const newest = await jobs.list({ state: "running", limit: READ_MAX });
  if (newest.next === null) return { jobs: longestFirst(newest.jobs), cutShort: newest.cutShort };
  const long = await jobs.list({ runningLongerThan: LONG, limit: READ_MAX });
  const all = new Map([...newest.jobs, ...long.jobs].map((job) => [job.id, job]));
  const isComplete = long.next === null && long.jobs.length >= RUNS_MAX;
  return { jobs: longestFirst([...all.values()]), cutShort: !isComplete };
}

/** A prefetched job has not started: it comes last. */
function longestFirst(jobs: readonly JobView[]): readonly JobView[] {
  const startOf = ({ startedAt }: JobView): number => startedAt?.getTime() ?? Infinity;
  return jobs.toSorted((one, other) => startOf(one) - startOf(other) || 0).slice(0, RUNS_MAX);
}

/** Null: the job was removed since it was listed. */
async function unitsOf({ jobs }: HttpMill, id: string): Promise<UnitCounts | null> {
  try {
    return (await jobs.progress(id)).units;
  } catch (error) {
    if (error instanceof MillraceError && error.code === "JOB_NOT_FOUND") return null;
    throw error;
  }
}
