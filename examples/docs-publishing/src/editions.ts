/**
 * Moves one edition to one build. First what the world sees, then the database: the row that says
 * the edition has moved is written last, so that a run that was cut off before does all of it
 * again, and a later run finds nothing to do.
 */
import { inTransaction } from "./database.ts";
import type { Docs } from "./docs.ts";
import { isToShow } from "./git-refs.ts";
import { getEdition, type Build } from "./records.ts";
import { copyBuild } from "./copy-mode.ts";
import { pointToBuild } from "./pointer-mode.ts";

export interface EditionUpdate {
  readonly outcome: "moved" | "unchanged" | "superseded";
  /** Objects or pointers that were written or removed. */
  readonly writes: number;
}

export interface UpdateOptions {
  /** An admin may go back to an older build; tracking never does. */
  readonly by: "tracking" | "admin";
  readonly signal: AbortSignal;
}

export async function updateEdition(
  docs: Docs,
  editionId: number,
  build: Build,
  { by, signal }: UpdateOptions,
): Promise<EditionUpdate> {
  // Read anew: since tracking has looked, another job may have moved it.
  const edition = getEdition(docs.db, editionId);
  if (by === "tracking" && !isToShow(edition, edition.build, build)) {
    return { outcome: "superseded", writes: 0 };
  }
  const move = build.project.org.editionMode === "pointer" ? pointToBuild : copyBuild;
  const isRecorded = edition.build?.id === build.id;
  const writes = await move(docs, { slug: edition.slug, build, isRecorded, signal });
  const isNew = recordMove(docs, editionId, build.id);
  return { outcome: isNew || writes > 0 ? "moved" : "unchanged", writes };
}

/** The edition and its history change together, and only if there is a change. */
function recordMove({ db }: Docs, editionId: number, buildId: number): boolean {
  return inTransaction(db, () => {
    const { changes } = db
      .prepare(
        `UPDATE Edition SET build_id = ?, date_updated = CURRENT_TIMESTAMP
         WHERE id = ? AND build_id IS NOT ?`,
      )
      .run(buildId, editionId, buildId);
    if (changes === 0) return false;
    db.prepare("INSERT INTO EditionBuildHistory (edition_id, build_id) VALUES (?, ?)").run(
      editionId,
      buildId,
    );
    return true;
  });
}
