/** Sends drawn requests to an app, and judges every answer. */
import type { Hono } from "hono";
import type { Route } from "../../../../src/http/route.ts";
import { createApp } from "../../../../src/http/app.ts";
import { makeParts } from "../../../../src/http/make-parts.ts";
import { allRoutes } from "../../../../src/http/routes/all.ts";
import { openApiRoute } from "../../../../src/http/routes/openapi.ts";
import { seededDice } from "../../../../test/support/seeded-dice.ts";
import { foreignIn, hasReachedRoute, type Answer } from "./judge.ts";
import { HeapSamples } from "./memory.ts";
import { mutated } from "./mutations.ts";
import { planted, type Plant } from "./plants.ts";
import { Draw, draftOf, type Draft } from "./requests.ts";
import { makeWorld, TENANTS, type Caller, type World } from "./world.ts";

const CONCURRENCY = 8;
/** The share of requests that are made bad. */
const MUTATED = 0.45;
/** The share of requests by callers that their route may refuse. */
const ANY_CALLER = 0.3;
const FINDINGS_MAX = 20;

export interface FuzzOptions {
  readonly url: string;
  readonly requests: number;
  readonly seed: number;
  readonly plant: Plant | null;
  /** An answer that takes longer is a finding. */
  readonly slowMs: number;
}

export interface FuzzReport {
  /** Answers by route and status. */
  readonly counts: ReadonlyMap<string, ReadonlyMap<number, number>>;
  /** Requests that passed routing, identity and the checks of their parts. */
  readonly reached: number;
  readonly findings: readonly string[];
  /** How many findings there were, also those that are not listed. */
  readonly found: number;
  readonly slowestMs: number;
  readonly heap: { readonly firstMb: number; readonly lastMb: number };
}

export async function fuzz(options: FuzzOptions): Promise<FuzzReport> {
  await using world = await makeWorld(options.url);
  const run = new FuzzRun(options, world);
  await run.all();
  return run.report();
}

class FuzzRun {
  readonly #options: FuzzOptions;
  readonly #world: World;
  readonly #app: Hono;
  readonly #routes: readonly Pick<Route, "name" | "method" | "path">[];
  readonly #dice;
  readonly #counts = new Map<string, Map<number, number>>();
  readonly #findings: string[] = [];
  readonly #heap: HeapSamples;
  readonly #errors: unknown[] = [];
  #documented: Promise<ReadonlyMap<string, ReadonlySet<string>>> | null = null;
  #found = 0;
  #reached = 0;
  #begun = 0;
  /** The callers that routes have refused. */
  readonly #refused = new Map<string, Set<Caller>>();
  #slowestMs = 0;

  constructor(options: FuzzOptions, world: World) {
    this.#options = options;
    this.#world = world;
    this.#dice = seededDice(options.seed);
    this.#heap = new HeapSamples(options.requests);
    const parts = makeParts({
      mill: world.mill,
      identify: { origin: { publicUrl: null, hosts: "loopback" } },
      failed: (error) => {
        if (this.#errors.length < FINDINGS_MAX) this.#errors.push(error);
      },
    });
    const routes = planted(allRoutes(parts), parts, options.plant);
    this.#app = createApp(parts, routes);
    this.#routes = [...routes, openApiRoute(() => ({}))];
  }

  async all(): Promise<void> {
    await Promise.all(Array.from({ length: CONCURRENCY }, () => this.#lane()));
  }

  report(): FuzzReport {
    const { firstMb, lastMb, grewBy } = this.#heap.verdict();
    if (grewBy !== null) this.#find(`the heap grew by ${grewBy} MB`);
    for (const error of this.#errors) this.#find(`the server reported ${shownError(error)}`);
    return {
      counts: this.#counts,
      reached: this.#reached,
      findings: this.#findings,
      found: this.#found,
      slowestMs: this.#slowestMs,
      heap: { firstMb, lastMb },
    };
  }

  async #lane(): Promise<void> {
    while (this.#begun < this.#options.requests) {
      this.#begun += 1;
      this.#heap.look(this.#begun);
      await this.#one();
    }
  }

  async #one(): Promise<void> {
    const first = new Draw(this.#dice, this.#world, this.#world.callers[0]!);
    const route = first.one(this.#routes);
    const draw = new Draw(this.#dice, this.#world, this.#callerFor(route.name, first));
    const good = draftOf(route, draw);
    const changed = draw.chance(MUTATED) ? mutated(good, draw) : good;
    const draft = isLogout(changed) ? good : changed;
    const request = requestOf(draft);
    if (request === null) return;
    const began = performance.now();
    const answer = await answerWithin(this.#app, request, this.#options.slowMs);
    const ms = performance.now() - began;
    this.#slowestMs = Math.max(this.#slowestMs, ms);
    const what = `${draft.method} ${request.url.slice(0, 200)} by ${draft.caller.name}`;
    if (answer === null) {
      this.#find(`no answer within ${this.#options.slowMs} ms: ${what}`);
      return;
    }
    this.#count(route.name, answer.status);
    if (answer.status === 403 && draft === good) this.#refuse(route.name, draft.caller);
    const isRouted = draft.path === good.path && draft.method === good.method;
    if (isRouted && !(await this.#isDocumented(route.name, answer.status))) {
      this.#find(`${answer.status} is not documented: ${what}: ${answer.text.slice(0, 300)}`);
    }
    this.#judge(draft, answer, what);
    this.#learn(draft, answer);
  }

  /** Mostly a caller that the route has not refused before. */
  #callerFor(route: string, draw: Draw): Caller {
    const { callers } = this.#world;
    const refused = this.#refused.get(route);
    const others = callers.filter((caller) => refused?.has(caller) !== true);
    const isAny = others.length === 0 || draw.chance(ANY_CALLER);
    const caller = draw.one(isAny ? callers : others);
    return route === "closeSession" && caller.name === "session" ? callers[0]! : caller;
  }

  #refuse(route: string, caller: Caller): void {
    const refused = this.#refused.get(route) ?? new Set();
    this.#refused.set(route, refused.add(caller));
  }

  #judge(draft: Draft, answer: Answer, what: string): void {
    if (hasReachedRoute(answer)) this.#reached += 1;
    if (answer.status >= 500 && answer.status !== 501) {
      this.#find(`${answer.status}: ${what}: ${answer.text.slice(0, 300)}`);
    }
    const foreign = foreignIn(draft, answer, this.#world);
    if (foreign !== null) this.#find(`${foreign} in the answer ${answer.status} to ${what}`);
  }

  /** New jobs and tokens are named by later requests. */
  #learn({ caller, json }: Draft, { status, text, path }: Answer): void {
    if (status !== 201) return;
    const wanted: any = json;
    const name: unknown = caller.tenant ?? wanted?.options?.tenant ?? wanted?.tenant;
    const tenant = TENANTS.find((each) => each === name);
    if (tenant === undefined) return;
    const made: any = JSON.parse(text);
    if (path === "/api/v1/jobs") this.#world.jobs[tenant].add(made.id);
    if (path === "/api/v1/tokens") this.#world.tokens[tenant].add(made.token.id);
  }

  async #isDocumented(route: string, status: number): Promise<boolean> {
    this.#documented ??= documentedBy(this.#app);
    return (await this.#documented).get(route)?.has(String(status)) === true;
  }

  #count(route: string, status: number): void {
    const counts = this.#counts.get(route) ?? new Map<number, number>();
    counts.set(status, (counts.get(status) ?? 0) + 1);
    this.#counts.set(route, counts);
  }

  #find(finding: string): void {
    this.#found += 1;
    if (this.#findings.length < FINDINGS_MAX) this.#findings.push(finding);
  }
}

/** The documented statuses by the name of the route. */
async function documentedBy(app: Hono): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
  const response = await app.request("http://127.0.0.1:7333/openapi.json");
  const { paths }: any = await response.json();
  const operations = Object.values<any>(paths).flatMap((methods) => Object.values<any>(methods));
  return new Map(
    operations.map(({ operationId, responses }) => [operationId, new Set(Object.keys(responses))]),
  );
}

/** The session of a caller must outlive the run, regardless of what becomes of its requests. */
function isLogout({ method, path, caller }: Draft): boolean {
  return caller.name === "session" && method === "DELETE" && path.startsWith("/api/v1/session");
}

function requestOf({ method, path, query, headers, json, bytes }: Draft): Request | null {
  const search = new URLSearchParams();
  for (const [name, value] of query) search.append(name, value);
  const hasBody = method !== "GET" && method !== "HEAD";
  const text = json === undefined ? undefined : JSON.stringify(json);
  const body = hasBody ? (bytes ?? text) : undefined;
  const type = body === undefined ? {} : { "content-type": "application/json" };
  try {
    const asked = search.size > 0 ? `?${search.toString()}` : "";
    return new Request(`http://127.0.0.1:7333${path}${asked}`, {
      method,
      headers: { ...type, ...headers },
      ...(body === undefined ? {} : { body }),
    });
  } catch {
    // A header or path that no client can send.
    return null;
  }
}

/** Null: there is none. Of a stream, the first messages. */
async function answerWithin(app: Hono, request: Request, ms: number): Promise<Answer | null> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<null>((resolve) => {
    timer = setTimeout(() => resolve(null), ms);
  });
  const path = new URL(request.url).pathname;
  const answered = (async (): Promise<Answer> => {
    const response = await app.fetch(request);
    const { status, headers } = response;
    // An answer to HEAD has no body.
    const { body } = response;
    const kind = headers.get("content-type");
    const isStream = kind === "text/event-stream";
    const text = isStream && body !== null ? await begunOf(body) : await response.text();
    return { status, path, text, isProblem: kind === PROBLEM };
  })();
  try {
    return await Promise.race([answered, late]);
  } finally {
    clearTimeout(timer);
  }
}

const PROBLEM = "application/problem+json";

/** Streams never end. */
const STREAM_CHUNKS = 3;
const STREAM_MS = 20;

/** What a stream says in its first moments. */
async function begunOf(body: ReadableStream<Uint8Array<ArrayBuffer>>): Promise<string> {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<{ done: true; value: undefined }>((resolve) => {
    timer = setTimeout(() => resolve({ done: true, value: undefined }), STREAM_MS);
  });
  for (let chunk = 0; chunk < STREAM_CHUNKS; chunk += 1) {
    const { done, value } = await Promise.race([reader.read(), late]);
    if (done) break;
    text += value;
  }
  clearTimeout(timer);
  await reader.cancel();
  return text;
}

function shownError(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message).slice(0, 1_000) : String(error);
}
