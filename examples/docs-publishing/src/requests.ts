/** What users ask for. Each of it makes one job, and its id is the answer. */
import type { Enqueued, Millrace } from "millrace";
import type { Docs } from "./docs.ts";
import { buildProcessing, editionUpdate } from "./jobs.ts";
import { editionName, getBuild, getEdition } from "./records.ts";

/** `PATCH …/builds/:build` with `status: uploaded`. Asked twice, it is the same job. */
export async function uploadComplete(
  mill: Millrace,
  { db }: Docs,
  buildId: number,
): Promise<Enqueued<unknown>> {
  const { project } = getBuild(db, buildId);
  db.prepare("UPDATE Build SET status = 'uploaded' WHERE id = ? AND status = 'pending'").run(
    buildId,
  );
  return mill.enqueue(
    buildProcessing,
    { buildId },
    {
      tenant: project.org.slug,
      tags: { project: project.slug, build: String(buildId) },
      idempotencyKey: `build/${buildId}`,
    },
  );
}

/** `PATCH …/editions/:edition` with another `build`: a reassignment, or a way back. */
export async function reassignEdition(
  mill: Millrace,
  { db }: Docs,
  change: { readonly editionId: number; readonly buildId: number; readonly by: string },
): Promise<Enqueued<unknown>> {
  const { editionId, buildId, by } = change;
  const { project } = getBuild(db, buildId);
  const { slug, projectId } = getEdition(db, editionId);
  if (projectId !== project.id) {
    throw new RangeError(`build ${buildId} belongs to another project than edition ${slug}`);
  }
  return mill.enqueue(
    editionUpdate,
    { editionId, buildId },
    {
      tenant: project.org.slug,
      tags: { project: project.slug },
      createdBy: by,
      concurrencyKey: editionName(project, slug),
    },
  );
}
