/** How organisations, projects, builds and editions come into being. */
import type { DatabaseSync } from "node:sqlite";
import type { TrackingMode } from "./git-refs.ts";
import type { Organization } from "./records.ts";

/** Slugs become folders: nothing that could lead out of one. */
const SLUG = /^[A-Za-z0-9_][A-Za-z0-9._-]*$/;

export function addOrganization(
  db: DatabaseSync,
  org: Pick<Organization, "slug" | "editionMode"> & {
    readonly title: string;
    readonly rewritePrefix?: string;
  },
): number {
  return insert(
    db,
    "Organization (slug, title, edition_mode, rewrite_prefix)",
    slugged(org.slug),
    org.title,
    org.editionMode,
    org.rewritePrefix ?? "",
  );
}

export function addProject(
  db: DatabaseSync,
  orgId: number,
  project: {
    readonly slug: string;
    readonly title: string;
    readonly defaultRef?: string;
    readonly trackingModes?: readonly TrackingMode[];
  },
): number {
  return insert(
    db,
    "Project (org_id, slug, title, default_ref, tracking_modes)",
    orgId,
    slugged(project.slug),
    project.title,
    project.defaultRef ?? "main",
    JSON.stringify(project.trackingModes ?? ["main", "git_ref", "semver_major"]),
  );
}

/** Its objects are uploaded next; {@link uploadComplete} says when all are there. */
export function addBuild(db: DatabaseSync, projectId: number, gitRef: string): number {
  return insert(db, "Build (project_id, git_ref)", projectId, gitRef);
}

/** An edition by hand, besides those that tracking makes by itself. */
export function addEdition(
  db: DatabaseSync,
  projectId: number,
  edition: { readonly slug: string; readonly trackedRef: string },
): number {
  return insert(
    db,
    "Edition (project_id, slug, tracking_mode, tracked_ref)",
    projectId,
    slugged(edition.slug),
    "git_ref",
    edition.trackedRef,
  );
}

function insert(db: DatabaseSync, into: string, ...values: (string | number)[]): number {
  const places = values.map(() => "?").join(", ");
  const { lastInsertRowid } = db.prepare(`INSERT INTO ${into} VALUES (${places})`).run(...values);
  return Number(lastInsertRowid);
}

function slugged(slug: string): string {
  if (SLUG.test(slug)) return slug;
  throw new RangeError(`“${slug}” is no slug: letters, digits, dots, dashes and underscores`);
}
