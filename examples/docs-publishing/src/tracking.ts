/** Which editions a build moves. Makes those that the modes of its project ask for. */
import { inTransaction } from "./database.ts";
import type { Docs } from "./docs.ts";
import { isToShow, wantedEditions } from "./git-refs.ts";
import { listEditions, type Build, type Edition } from "./records.ts";

/**
 * A ref whose slug another ref has taken gets no edition of its own: the one that was there first
 * goes on to follow its ref.
 */
export function evaluateTracking({ db }: Pick<Docs, "db">, build: Build): Edition[] {
  const { project, gitRef } = build;
  const { rewritePrefix } = project.org;
  return inTransaction(db, () => {
    const make = db.prepare(
      `INSERT INTO Edition (project_id, slug, tracking_mode, tracked_ref) VALUES (?, ?, ?, ?)
       ON CONFLICT (project_id, slug) DO NOTHING`,
    );
    for (const { slug, trackingMode, trackedRef } of wantedEditions(gitRef, {
      ...project,
      rewritePrefix,
    })) {
      make.run(project.id, slug, trackingMode, trackedRef);
    }
    return listEditions(db, project.id).filter((edition) =>
      isToShow(edition, edition.build, build),
    );
  });
}
