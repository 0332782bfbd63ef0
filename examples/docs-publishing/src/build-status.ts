/**
 * The status of a build follows its job, however that ends: by a failure, a cancel or a worker that
 * died too often, which no line of the job itself would live to tell.
 */
import type { FinalState, JobView, Millrace } from "millrace";
import { rowsOf } from "./database.ts";
import type { Docs } from "./docs.ts";
import { buildProcessing } from "./jobs.ts";
import { getBuild } from "./records.ts";

/** What ends from now on, until the mill is closed, and what ended while no process listened. */
export async function followBuilds(mill: Millrace, docs: Docs): Promise<void> {
  // The mill logs what its promise rejects with.
  const listener: (event: { id: string }) => unknown = async ({ id }) => {
    const build = buildOf(await mill.jobs.get(id));
    if (build !== null) await settleBuild(mill, docs, build);
  };
  mill.on("job:completed", listener);
  mill.on("job:failed", listener);
  mill.on("job:cancelled", listener);
  const open = "SELECT id FROM Build WHERE status = 'uploaded'";
  for (const { id } of rowsOf<{ id: number }>(docs.db, open)) await settleBuild(mill, docs, id);
}

/** Says of a build what its newest job has come to. Harmless when repeated. */
async function settleBuild(mill: Millrace, { db }: Docs, buildId: number): Promise<void> {
  const { project } = getBuild(db, buildId);
  const { jobs } = await mill.jobs.list({
    type: buildProcessing.type,
    tenant: project.org.slug,
    tags: { build: String(buildId) },
    limit: 1,
  });
  const state = jobs[0]?.state;
  if (state === undefined || !isFinal(state)) return;
  db.prepare("UPDATE Build SET status = ? WHERE id = ?").run(state, buildId);
}

function buildOf({ type, tags }: JobView): number | null {
  const { build } = tags;
  return type === buildProcessing.type && build !== undefined ? Number(build) : null;
}

const FINAL: ReadonlySet<string> = new Set<FinalState>([
  "completed",
  "completed_with_errors",
  "failed",
  "cancelled",
]);

function isFinal(state: JobView["state"]): state is FinalState {
  return FINAL.has(state);
}
