/** Organisations, projects, builds and editions, as they stand in the database. */
import type { DatabaseSync } from "node:sqlite";
import { NonRetryableError } from "millrace";
import { rowsOf } from "./database.ts";
import type { TrackingMode } from "./git-refs.ts";

export interface Organization {
  readonly slug: string;
  /** How its editions are served: by a pointer to the build, or as a copy of it. */
  readonly editionMode: "pointer" | "copy";
  /** Its rewrite rule: what slugs leave out of a git ref, such as `tickets/`. */
  readonly rewritePrefix: string;
}

export interface Project {
  readonly id: number;
  readonly slug: string;
  readonly title: string;
  readonly defaultRef: string;
  readonly trackingModes: readonly TrackingMode[];
  readonly org: Organization;
}

export interface Build {
  readonly id: number;
  readonly gitRef: string;
  readonly status: string;
  readonly project: Project;
}

export interface Edition {
  readonly id: number;
  readonly projectId: number;
  readonly slug: string;
  readonly trackingMode: TrackingMode;
  /** A git ref, or the number of a major version. */
  readonly trackedRef: string;
  /** What it shows now; null: nothing yet. */
  readonly build: { readonly id: number; readonly gitRef: string } | null;
  readonly dateUpdated: string | null;
}

/** Without them there is nothing to do, however often it is tried. */
export function getBuild(db: DatabaseSync, id: number): Build {
  const [row] = rowsOf<{ projectId: number; gitRef: string; status: string }>(
    db,
    "SELECT project_id AS projectId, git_ref AS gitRef, status FROM Build WHERE id = ?",
    id,
  );
  if (row === undefined) throw new NonRetryableError(`there is no build ${id}`);
  const { projectId, gitRef, status } = row;
  return { id, gitRef, status, project: getProject(db, projectId) };
}

export function getProject(db: DatabaseSync, id: number): Project {
  const [row] = rowsOf<Omit<Project, "trackingModes" | "org"> & { modes: string; orgId: number }>(
    db,
    `SELECT id, slug, title, default_ref AS defaultRef, tracking_modes AS modes, org_id AS orgId
     FROM Project WHERE id = ?`,
    id,
  );
  if (row === undefined) throw new NonRetryableError(`there is no project ${id}`);
  const { modes, orgId, ...rest } = row;
  return { ...rest, trackingModes: JSON.parse(modes), org: getOrganization(db, orgId) };
}

/** The id of a project by its place in the API; null: there is none. */
export function findProject(db: DatabaseSync, org: string, slug: string): number | null {
  const [row] = rowsOf<{ id: number }>(
    db,
    `SELECT p.id FROM Project p JOIN Organization o ON o.id = p.org_id
     WHERE o.slug = ? AND p.slug = ?`,
    org,
    slug,
  );
  return row?.id ?? null;
}

/** Whether a build belongs to a project. */
export function hasBuild(db: DatabaseSync, projectId: number, buildId: number): boolean {
  const found = rowsOf(
    db,
    "SELECT 1 FROM Build WHERE id = ? AND project_id = ?",
    buildId,
    projectId,
  );
  return found.length > 0;
}

function getOrganization(db: DatabaseSync, id: number): Organization {
  const [row] = rowsOf<Organization>(
    db,
    `SELECT slug, edition_mode AS editionMode, rewrite_prefix AS rewritePrefix
     FROM Organization WHERE id = ?`,
    id,
  );
  if (row === undefined) throw new NonRetryableError(`there is no organization ${id}`);
  return row;
}

/** All editions of a project, by slug. */
export function listEditions(db: DatabaseSync, projectId: number): Edition[] {
  return rowsOf<EditionRow>(
    db,
    `SELECT ${EDITION} WHERE e.project_id = ? ORDER BY e.slug`,
    projectId,
  ).map(editionOf);
}

export function getEdition(db: DatabaseSync, id: number): Edition {
  const [row] = rowsOf<EditionRow>(db, `SELECT ${EDITION} WHERE e.id = ?`, id);
  if (row === undefined) throw new NonRetryableError(`there is no edition ${id}`);
  return editionOf(row);
}

/**
 * The one name of an edition within its organisation: one run at a time updates it under that name.
 */
export function editionName(project: Project, slug: string): string {
  return `${project.slug}/${slug}`;
}

type EditionRow = Omit<Edition, "build"> & {
  readonly buildId: number | null;
  readonly gitRef: string | null;
};

const EDITION = `
  e.id, e.slug, e.project_id AS projectId, e.tracking_mode AS trackingMode,
  e.tracked_ref AS trackedRef, e.date_updated AS dateUpdated, b.id AS buildId, b.git_ref AS gitRef
  FROM Edition e LEFT JOIN Build b ON b.id = e.build_id`;

function editionOf({ buildId, gitRef, ...edition }: EditionRow): Edition {
  const build = buildId === null || gitRef === null ? null : { id: buildId, gitRef };
  return { ...edition, build };
}
