/** A publisher in a folder of its own, with one organisation and one project. */
import { mkdtempSync, rmSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openMillrace, type Millrace } from "millrace";
import { rowsOf } from "../src/database.ts";
import { openDocs, type Docs } from "../src/docs.ts";
import { pointerFile } from "../src/folders.ts";
import { buildProcessing, editionUpdate } from "../src/jobs.ts";
import {
  getBuild,
  getProject,
  listEditions,
  type Build,
  type Edition,
  type Organization,
  type Project,
} from "../src/records.ts";
import { addEdition, addOrganization, addProject } from "../src/registration.ts";
import { uploadBuild } from "../src/sample-build.ts";

export const JOBS = [buildProcessing, editionUpdate] as const;

export interface WorldOptions {
  readonly editionMode?: Organization["editionMode"];
  readonly pace?: Docs["pace"];
  /** Slugs of editions that follow `main`, besides `__main`. */
  readonly followers?: readonly string[];
}

export class World {
  readonly root = mkdtempSync(join(tmpdir(), "millrace-docs-"));
  readonly docs: Docs;
  readonly org: number;
  readonly projectId: number;
  readonly #mills: Millrace[] = [];

  constructor({ editionMode = "pointer", pace, followers = [] }: WorldOptions = {}) {
    this.docs = openDocs(this.root, pace);
    const { db } = this.docs;
    this.org = addOrganization(db, {
      slug: "acme",
      title: "Acme",
      editionMode,
      rewritePrefix: "tickets/",
    });
    this.projectId = addProject(db, this.org, { slug: "docs", title: "Docs" });
    for (const slug of followers) addEdition(db, this.projectId, { slug, trackedRef: "main" });
  }

  /** For what needs a real clock, or several workers. */
  async openMill(): Promise<Millrace> {
    const mill = await openMillrace(`sqlite:${join(this.root, "jobs.db")}`);
    this.#mills.push(mill);
    return mill;
  }

  get project(): Project {
    return getProject(this.docs.db, this.projectId);
  }

  async build(gitRef: string, pages = 2): Promise<Build> {
    const id = await uploadBuild(this.docs, this.projectId, { gitRef, pages });
    return getBuild(this.docs.db, id);
  }

  edition(slug: string): Edition {
    const found = listEditions(this.docs.db, this.projectId).find((each) => each.slug === slug);
    if (found === undefined) throw new Error(`there is no edition ${slug}`);
    return found;
  }

  status(build: Build): string {
    return getBuild(this.docs.db, build.id).status;
  }

  /** Every move of every edition so far, as `slug build`. */
  get history(): string[] {
    return rowsOf<{ move: string }>(
      this.docs.db,
      `SELECT e.slug || ' ' || h.build_id AS move
       FROM EditionBuildHistory h JOIN Edition e ON e.id = h.edition_id ORDER BY h.id`,
    ).map(({ move }) => move);
  }

  /** From now on the KV store cannot take this entry: a folder is in its place. */
  async block(slug: string): Promise<void> {
    await mkdir(pointerFile(this.docs.folders, this.project, slug), { recursive: true });
  }

  unblock(slug: string): void {
    rmSync(pointerFile(this.docs.folders, this.project, slug), { recursive: true });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const mill of this.#mills) await mill.close();
    this.docs[Symbol.dispose]();
    rmSync(this.root, { recursive: true, force: true });
  }
}
