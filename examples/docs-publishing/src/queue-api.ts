/**
 * The publisher's HTTP API, as far as it is about jobs. Clients tell that a build is uploaded,
 * admins move editions, and both follow the job that this makes. Operators get the API of Millrace.
 */
import { createServer } from "node:http";
import type { Enqueued, Millrace } from "millrace";
import { createHandler, toNodeHandler } from "millrace/http";
import { ApiError, bodyOf, json, problem } from "./api-answers.ts";
import type { Docs } from "./docs.ts";
import { queueJob } from "./queue-job.ts";
import { findProject, hasBuild, listEditions } from "./records.ts";
import { reassignEdition, uploadComplete } from "./requests.ts";

/** A member of one organisation. Other organisations do not exist for a member. */
export interface Member {
  readonly actor: string;
  readonly org: string;
  readonly role: "client" | "admin";
}

export interface QueueApiOptions {
  readonly mill: Millrace;
  readonly docs: Docs;
  /** The login of the publisher; null: the request has no known caller. */
  readonly authenticate: (request: Request) => Member | null;
}

const OPERATORS = "/operators";
const JOB = /^\/queue\/jobs\/([^/]+)$/;
const RESOURCE = /^\/orgs\/([^/]+)\/projects\/([^/]+)\/(builds|editions)\/([^/]+)$/;

function createQueueApi(options: QueueApiOptions): (request: Request) => Promise<Response> {
  const operators = createHandler({
    mill: options.mill,
    basePath: OPERATORS,
    authenticate: (request) => {
      const member = options.authenticate(request);
      if (member === null) return null;
      const roles = member.role === "admin" ? (["operator"] as const) : (["viewer"] as const);
      return { actor: member.actor, tenant: member.org, roles };
    },
  });
  return async (request) => {
    const { pathname } = new URL(request.url);
    if (pathname.startsWith(`${OPERATORS}/`)) return operators(request);
    try {
      return await answer(request, pathname, options);
    } catch (error) {
      return problem(error);
    }
  };
}

/** Serves the API on the loopback address, on any free port. */
export async function serveQueueApi(
  options: QueueApiOptions,
): Promise<{ readonly url: string } & AsyncDisposable> {
  const server = createServer(toNodeHandler(createQueueApi(options)));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  return {
    url: `http://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function answer(request: Request, path: string, options: QueueApiOptions): Promise<Response> {
  const member = options.authenticate(request);
  if (member === null) throw new ApiError(401, "log in first");
  const [, job] = JOB.exec(path) ?? [];
  if (job !== undefined) {
    if (request.method !== "GET") throw new ApiError(405, "a job is only read here");
    return json(200, await queueJob(options.mill.forTenant(member.org), job));
  }
  const [, org, project, kind, name] = RESOURCE.exec(path)?.map(decodeURIComponent) ?? [];
  if (org === undefined || project === undefined || name === undefined) {
    throw new ApiError(404, `there is nothing at ${path}`);
  }
  if (request.method !== "PATCH") throw new ApiError(405, "use PATCH");
  // What belongs to another organisation answers as what does not exist.
  const id = org === member.org ? findProject(options.docs.db, org, project) : null;
  if (id === null) throw new ApiError(404, `there is no project ${project}`);
  const change = { project: id, name, body: await bodyOf(request), member };
  const enqueued = await (kind === "builds" ? patchBuild : patchEdition)(change, options);
  return accepted(enqueued, member, options.mill);
}

interface Change {
  readonly project: number;
  readonly name: string;
  readonly body: Readonly<Record<string, unknown>>;
  readonly member: Member;
}

/** `PATCH …/builds/:build` with `status: uploaded` processes the build. */
function patchBuild(
  { project, name, body }: Change,
  { mill, docs }: QueueApiOptions,
): Promise<Enqueued<unknown>> {
  const build = buildIn(docs, project, Number(name));
  if (Object.keys(body).join() !== "status" || body["status"] !== "uploaded") {
    throw new ApiError(400, 'a build takes { "status": "uploaded" }');
  }
  return uploadComplete(mill, docs, build);
}

/** `PATCH …/editions/:edition` with `build` moves the edition, to an older build as well. */
function patchEdition(
  { project, name, body, member }: Change,
  { mill, docs }: QueueApiOptions,
): Promise<Enqueued<unknown>> {
  if (member.role !== "admin") throw new ApiError(403, "only admins move editions");
  const edition = listEditions(docs.db, project).find(({ slug }) => slug === name);
  if (edition === undefined) throw new ApiError(404, `there is no edition ${name}`);
  const { build } = body;
  if (Object.keys(body).join() !== "build" || typeof build !== "number") {
    throw new ApiError(400, 'an edition takes { "build": 7 }');
  }
  const buildId = buildIn(docs, project, build);
  return reassignEdition(mill, docs, { editionId: edition.id, buildId, by: member.actor });
}

function buildIn({ db }: Docs, project: number, build: number): number {
  if (Number.isSafeInteger(build) && hasBuild(db, project, build)) return build;
  throw new ApiError(404, `there is no build ${build} in this project`);
}

/** The job, which goes on behind the answer, and where it is read. */
async function accepted(
  { id, created }: Enqueued<unknown>,
  { org }: Member,
  mill: Millrace,
): Promise<Response> {
  const job = await queueJob(mill.forTenant(org), id);
  return json(created ? 202 : 200, job, { location: `/queue/jobs/${id}` });
}
