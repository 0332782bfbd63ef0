/** Tries every route with what belongs to another tenant. */
import { setTimeout } from "node:timers/promises";
import type { Millrace } from "millrace";
import { createApp } from "../../../src/http/app.ts";
import { makeParts } from "../../../src/http/make-parts.ts";
import type { AppParts } from "../../../src/http/parts.ts";
import type { Route } from "../../../src/http/route.ts";
import { allRoutes } from "../../../src/http/routes/all.ts";
import { samplesOf } from "../../http/samples.ts";
import { causeIn, CANARY, OTHER, OWN, type TenantScene } from "./scene.ts";

/** What an audit has found. */
export interface Isolation {
  readonly attempts: number;
  readonly leaks: readonly string[];
  /** Attempts that succeed with a credential of the right tenant. */
  readonly succeeded: number;
  /** Of the others, those that no caller of one tenant may make, and all that is left. */
  readonly forbidden: number;
  readonly failed: readonly string[];
}

/** A stream that is silent for so long has told all. */
const SILENCE_MS = 100;
const HOST = "http://127.0.0.1:7333";
/** Routes that change the jobs that later routes ask about come last. */
const LAST = /^(cancel|retry|fail|release|discard|reprocess|remove|revoke|close|setQuota)/;
/** Routes without a credential, and the one that ends the session of the browser. */
const PUBLIC = new Set(["isAlive", "isReady", "isHealthy", "openSession", "closeSession"]);

/** What a request or a command names. */
export interface Target {
  readonly jobId: string;
  readonly failedId: string;
  readonly runningId: string;
  readonly tokenId: string;
  readonly tenant: string;
  readonly schedule: string;
  readonly cause: string;
}

export function targetsOf({ other, otherTokens }: TenantScene): {
  readonly known: Target;
  readonly unknown: Target;
} {
  const known = {
    jobId: other.queued,
    failedId: other.failed,
    runningId: other.running,
    tokenId: otherTokens[0] ?? other.queued,
    tenant: OTHER,
    schedule: `${CANARY}-mark`,
    cause: causeIn(OTHER),
  };
  const absent = (id: string): string => `${id.slice(0, -3)}000`;
  const unknown = {
    jobId: absent(known.jobId),
    failedId: absent(known.failedId),
    runningId: absent(known.runningId),
    tokenId: absent(known.tokenId),
    tenant: "absent",
    schedule: "nothing",
    cause: "0123456789abcdef",
  };
  return { known, unknown };
}

/** Asks every route for what belongs to the other tenant, and for what does not exist. */
export async function auditRoutes(mill: Millrace, scene: TenantScene): Promise<Isolation> {
  const parts = partsOf(mill);
  const secrets = { own: await secretFor(mill, OWN), other: await secretFor(mill, OTHER) };
  const { known, unknown } = targetsOf(scene);
  const leaks: string[] = [];
  const names = allRoutes(parts).filter(({ name }) => !PUBLIC.has(name));
  const routes = names.toSorted((a, b) => Number(LAST.test(a.name)) - Number(LAST.test(b.name)));
  const ask = askerOf(parts);
  for (const route of routes) {
    const found = await ask(route, known, secrets.own);
    const missing = await ask(route, unknown, secrets.own);
    leaks.push(...leaksOf(route.name, found, missing));
  }
  const control = { succeeded: 0, forbidden: 0, failed: [] as string[] };
  for (const route of routes) {
    const { status } = await ask(route, known, secrets.other);
    if (status < 400) control.succeeded += 1;
    else if (status === 403) control.forbidden += 1;
    else control.failed.push(route.name);
  }
  return { attempts: routes.length, leaks, ...control };
}

/** Why the right tenant is refused by one route that comes before all others; null: it is not. */
export async function refusedAlone(
  mill: Millrace,
  scene: TenantScene,
  name: string,
): Promise<string | null> {
  const parts = partsOf(mill);
  const route = allRoutes(parts).find((each) => each.name === name);
  if (route === undefined) throw new Error(`there is no route ${name}`);
  const { known } = targetsOf(scene);
  // A job that runs, and a name that is free.
  const jobId = name === "releaseJob" ? known.runningId : known.jobId;
  const schedule = name === "createSchedule" ? "new" : known.schedule;
  const target = { ...known, jobId, schedule };
  const { status, text } = await askerOf(parts)(route, target, await secretFor(mill, OTHER));
  return status < 400 || isToldOwn(text) ? null : `${name} ${status}`;
}

/** The job of the scene runs on a living worker, and only its own tenant is told so. */
export function isToldOwn(text: string): boolean {
  return text.includes("RUN_HEALTHY");
}

function partsOf(mill: Millrace): AppParts {
  return makeParts({
    mill,
    identify: { origin: { publicUrl: null, hosts: "any" } },
    failed: () => {},
  });
}

type Asker = (route: Route, target: Target, secret: string) => Promise<Answer>;

function askerOf(parts: AppParts): Asker {
  const app = createApp(parts);
  return async ({ name, method }, target, secret) => {
    const { path, json } = requestOf(name, target);
    const response = await app.request(`${HOST}${path}`, {
      method: method.toUpperCase(),
      headers: {
        authorization: `Bearer ${secret}`,
        ...(json !== undefined && { "content-type": "application/json" }),
      },
      ...(json !== undefined && { body: JSON.stringify(json) }),
    });
    return { status: response.status, text: maskedText(await textOf(response), target) };
  };
}

/** The whole answer, or the beginning of a stream. */
async function textOf(response: Response): Promise<string> {
  const reader = response.body?.getReader();
  if (reader === undefined) return "";
  let text = "";
  for (;;) {
    const part = await Promise.race([reader.read(), setTimeout(SILENCE_MS, null)]);
    if (part === null) await reader.cancel();
    if (part === null || part.done) return text;
    text += Buffer.from(part.value).toString();
  }
}

function requestOf(name: string, target: Target): { path: string; json?: unknown } {
  const sample = samplesOf(target)[name];
  if (sample === undefined) throw new Error(`there is no sample request for ${name}`);
  const path = sample.path
    .replace("/acme", `/${encodeURIComponent(target.tenant)}`)
    .replace("/schedules/none", `/schedules/${encodeURIComponent(target.schedule)}`)
    .replace("/failures/0123456789abcdef", `/failures/${target.cause}`)
    // The operation of a tenant has the id of its failed job.
    .replace(`/operations/${target.jobId}`, `/operations/${target.failedId}`);
  return sample.json === undefined ? { path } : { path, json: sample.json };
}

interface Answer {
  readonly status: number;
  readonly text: string;
}

export function leaksOf(name: string, found: Answer, missing: Answer): string[] {
  const leaks: string[] = [];
  if (found.text.includes(CANARY)) leaks.push(`${name} tells ${found.text.slice(0, 300)}`);
  if (found.status !== missing.status) {
    leaks.push(`${name} answers ${found.status}, and ${missing.status} to what does not exist`);
  }
  return leaks;
}

/** What a request asked for may be repeated by its answer. */
export function maskedText(text: string, target: Target): string {
  return Object.values(target).reduce(
    (rest: string, each: string) => rest.replaceAll(each, "…"),
    text,
  );
}

/** A person with all roles, limited to one tenant. */
export async function secretFor(mill: Millrace, tenant: string): Promise<string> {
  const roles = ["viewer", "operator", "manager", "admin"] as const;
  const token = { kind: "person", name: `audit of ${tenant}`, roles, tenant } as const;
  return (await mill.tokens.create(token)).secret;
}
