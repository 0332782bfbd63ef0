/**
 * The admin API: `/api/jobs/admin/queue/` and `/api/jobs/admin/dlq/`. Every caller sees the jobs of
 * the own firm alone.
 */
import { createServer } from "node:http";
import type { Millrace, TenantMillrace } from "millrace";
import { toNodeHandler } from "millrace/http";
import { json, notesOf, refused, Refusal } from "./api-answers.ts";
import { dlqFilter, queueFilter } from "./filters.ts";
import { passGates, type FirmUser } from "./gates.ts";
import { discardDlq, dlqStatistics, listDlq, readDlq, reprocessDlq, type Dlq } from "./job-dlq.ts";
import { listJobs } from "./job-queue.ts";
import type { Practice } from "./practice.ts";
import { queueStatistics } from "./queue-statistics.ts";

export interface AdminApiOptions {
  readonly mill: Millrace;
  readonly practice: Practice;
  /** The clock of the statistics. */
  readonly now?: () => number;
}

interface Call extends Required<AdminApiOptions> {
  readonly request: Request;
  readonly url: URL;
  readonly user: FirmUser;
  /** The number in the path. */
  readonly id: number;
}

type Route = readonly [method: "GET" | "POST", path: RegExp, answer: (call: Call) => unknown];

const BASE = "/api/jobs/admin";

const ROUTES: readonly Route[] = [
  ["GET", /^\/queue\/$/, answerQueue],
  ["GET", /^\/queue\/statistics\/$/, (call) => queueStatistics(firmOf(call), call.now())],
  ["GET", /^\/dlq\/$/, answerDlq],
  ["GET", /^\/dlq\/statistics\/$/, (call) => dlqStatistics(dlqOf(call))],
  ["GET", /^\/dlq\/(\d{1,15})\/$/, (call) => readDlq(dlqOf(call), call.id)],
  ["POST", /^\/dlq\/(\d{1,15})\/reprocess\/$/, (call) => review(call, reprocessDlq)],
  ["POST", /^\/dlq\/(\d{1,15})\/discard\/$/, (call) => review(call, discardDlq)],
];

function createAdminApi(options: AdminApiOptions): (request: Request) => Promise<Response> {
  return async (request) => {
    try {
      const user = await passGates(request, options);
      const answer = await route({ now: Date.now, ...options, request, user });
      return answer instanceof Response ? answer : json(answer);
    } catch (error) {
      return refused(error);
    }
  };
}

/** Serves the API on the loopback address; port 0 is any free one. */
export async function serveAdminApi(
  options: AdminApiOptions,
  port = 0,
): Promise<{ readonly url: string } & AsyncDisposable> {
  const server = createServer(toNodeHandler(createAdminApi(options)));
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject).listen(port, "127.0.0.1", resolve);
  });
  const address = server.address();
  const bound = typeof address === "object" && address !== null ? address.port : port;
  return {
    url: `http://127.0.0.1:${bound}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function route(caller: Omit<Call, "url" | "id">): Promise<object> {
  const url = new URL(caller.request.url);
  const path = url.pathname.startsWith(BASE) ? url.pathname.slice(BASE.length) : "";
  const here = ROUTES.filter(([, pattern]) => pattern.test(path));
  if (here.length === 0) throw new Refusal(404, `there is nothing at ${url.pathname}`);
  const found = here.find(([method]) => method === caller.request.method);
  if (found === undefined) throw new Refusal(405, `use ${here.map(([m]) => m).join(" or ")}`);
  const [, pattern, answer] = found;
  const id = Number(pattern.exec(path)?.[1] ?? 0);
  const body: any = await answer({ ...caller, url, id });
  return body;
}

async function answerQueue(call: Call): Promise<Response> {
  const { next, ...page } = await listJobs(firmOf(call), queueFilter(call.url.searchParams));
  return json(page, linkTo(call.url, next));
}

async function answerDlq(call: Call): Promise<Response> {
  const { next, ...page } = await listDlq(dlqOf(call), dlqFilter(call.url.searchParams));
  return json(page, linkTo(call.url, next));
}

/** The next page is a header, so that the body has the two fields of the firms' screens alone. */
function linkTo(url: URL, after: string | null): Record<string, string> {
  if (after === null) return {};
  const next = new URL(url);
  next.searchParams.set("after", after);
  return { link: `<${next.pathname}${next.search}>; rel="next"` };
}

async function review<R>(
  call: Call,
  act: (dlq: Dlq, id: number, by: { actor: string }) => Promise<R>,
): Promise<R> {
  const notes = await notesOf(call.request);
  return act(dlqOf(call), call.id, { actor: call.user.name, ...notes });
}

function firmOf({ mill, user }: Call): TenantMillrace {
  return mill.forTenant(String(user.firm));
}

function dlqOf(call: Call): Dlq {
  return { firmId: call.user.firm, firm: firmOf(call), db: call.practice.db };
}
