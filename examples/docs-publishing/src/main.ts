/**
 * Two organisations, three projects, and what becomes of their builds: while it happens, and as
 * operators see it. Leaves dashboards to open.
 *
 *     npm run example:docs
 */
import { mkdir, rm } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { openMillrace, type Millrace } from "millrace";
import { followBuilds } from "./build-status.ts";
import { rowsOf } from "./database.ts";
import { openDocs, type Docs } from "./docs.ts";
import { pointerFile, siteFolder } from "./folders.ts";
import { buildProcessing, editionUpdate } from "./jobs.ts";
import * as operator from "./operator-queries.ts";
import { serveQueueApi, type Member } from "./queue-api.ts";
import { getProject } from "./records.ts";
import { addOrganization, addProject } from "./registration.ts";
import { uploadBuild } from "./sample-build.ts";
import { say, sayTable, watch } from "./watch.ts";

const FOLDER = resolve(process.argv[2] ?? join(".millrace", "docs-publishing"));
const MINUTE_MS = 60_000;
/** Nothing here takes nearly as long: the tour ends in any case. */
const PATIENCE = { timeout: "60s" } as const;

await main();

async function main(): Promise<void> {
  await rm(FOLDER, { recursive: true, force: true });
  // So slowly that it can be watched.
  using docs = openDocs(FOLDER, () => wait(40));
  await using mill = await openMillrace(`sqlite:${join(FOLDER, "jobs.db")}`);
  await followBuilds(mill, docs);
  await tour(mill, docs);
}

async function tour(mill: Millrace, docs: Docs): Promise<void> {
  const projects = addProjects(docs);
  // The KV store cannot take this entry: a folder is in its place.
  const obstacle = pointerFile(docs.folders, getProject(docs.db, projects.pipelines), "v2.1.0");
  await mkdir(obstacle, { recursive: true });

  await using api = await serveQueueApi({ mill, docs, authenticate: memberOf });
  say("queue API", `${api.url}/queue/jobs/ID`);
  const jobs: JobRef[] = [];
  for (const gitRef of ["main", "v2.1.0", "tickets/DM-12345", "main"]) {
    for (const id of Object.values(projects)) {
      const build = await uploadBuild(docs, id, { gitRef, pages: 4 });
      const path = `${placeOf(docs, id)}/builds/${build}`;
      jobs.push(await patch(`${api.url}${path}`, { status: "uploaded" }));
    }
  }
  sayTable("waiting jobs by kind", await operator.backlogByKind(mill));

  using lines = watch(mill);
  const look = lookAround(mill, lines.reached("handbook", "editions"));
  const worker = mill.work({ jobs: [buildProcessing, editionUpdate], deps: docs });
  await Promise.all(jobs.map((job) => mill.wait(job, PATIENCE)));
  await look;

  say("repair", "the KV store takes the entry of v2.1.0 again; retry what failed");
  await rm(obstacle, { recursive: true });
  for (const { id } of await operator.jobsWithErrors(mill, new Date(0))) {
    await mill.wait(await mill.jobs.retry(id), PATIENCE);
  }

  say("rollback", "an admin gives handbook/__main its first build again");
  await mill.wait(await rollBack(api.url, docs, projects.handbook), PATIENCE);
  await worker.stop();
  await report(mill, docs, Object.values(projects));
}

function addProjects({ db }: Docs): { pipelines: number; survey: number; handbook: number } {
  const observatory = addOrganization(db, {
    slug: "observatory",
    title: "Observatory",
    editionMode: "pointer",
    rewritePrefix: "tickets/",
  });
  const atelier = addOrganization(db, { slug: "atelier", title: "Atelier", editionMode: "copy" });
  return {
    pipelines: addProject(db, observatory, { slug: "pipelines", title: "Science <Pipelines>" }),
    survey: addProject(db, observatory, { slug: "survey", title: "Survey & Strategy" }),
    handbook: addProject(db, atelier, { slug: "handbook", title: "Handbook" }),
  };
}

/** What operators see in the middle of it. */
async function lookAround(mill: Millrace, moment: Promise<void>): Promise<void> {
  await moment;
  for (const { project, build, phase, progress } of await operator.activeWork(mill)) {
    say("active work", `${project} build ${build} in ${phase}: ${JSON.stringify(progress)}`);
  }
  const edition = { org: "atelier", project: "handbook", slug: "__main" };
  const jobs = await operator.editionConflict(mill, edition);
  say("conflict", `${jobs.length} job(s) at handbook/__main, or in line for it`);
}

async function rollBack(url: string, docs: Docs, projectId: number): Promise<JobRef> {
  const [first] = rowsOf<{ id: number }>(
    docs.db,
    "SELECT min(id) AS id FROM Build WHERE project_id = ?",
    projectId,
  );
  if (first === undefined) throw new Error("there is nothing to roll back");
  return patch(`${url}${placeOf(docs, projectId)}/editions/__main`, { build: first.id });
}

/** Where the API has a project. */
function placeOf({ db }: Docs, projectId: number): string {
  const { org, slug } = getProject(db, projectId);
  return `/orgs/${org.slug}/projects/${slug}`;
}

/** A login for the tour: each caller is an admin of the organisation that the path names. */
function memberOf(request: Request): Member | null {
  const org = /^\/orgs\/([^/]+)\//.exec(new URL(request.url).pathname)?.[1];
  return org === undefined ? null : { actor: "admin", org, role: "admin" };
}

interface JobRef {
  readonly id: string;
  readonly type: string;
}

async function patch(url: string, body: object): Promise<JobRef> {
  const response = await fetch(url, { method: "PATCH", body: JSON.stringify(body) });
  const job: { id: string; kind: string } = JSON.parse(await response.text());
  return { id: job.id, type: job.kind };
}

async function report(mill: Millrace, docs: Docs, projects: readonly number[]): Promise<void> {
  const now = Date.now();
  const lastHour = new Date(now - 60 * MINUTE_MS);
  sayTable("waiting jobs by kind", await operator.backlogByKind(mill));
  sayTable("completed in the last hour", await operator.throughputByOrg(mill, lastHour));
  const errors = await operator.errorsSince(mill, lastHour);
  const slow = await operator.slowJobs(mill, new Date(now - 10 * MINUTE_MS));
  sayTable("jobs", { "with errors in the last hour": errors, "slower than 10 min": slow.length });
  for (const id of projects) {
    const project = getProject(docs.db, id);
    const page = join(siteFolder(docs.folders, project), "index.html");
    say("open", pathToFileURL(page).href);
  }
  say("kept in", dirname(docs.folders.objects));
}
