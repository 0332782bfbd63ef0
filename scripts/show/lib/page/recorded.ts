/** Records what a page asks for while it is used, and repeats it from another process. */
import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { Millrace } from "millrace";
import type { LatencyWorker } from "../http/claim-latency.ts";
import type { ColdBrowser } from "./cold-browser.ts";

/** A read of the page, so long after its first one. */
export interface Recorded {
  readonly atMs: number;
  readonly path: string;
}

/** The screens that a person on duty looks at. */
const SCREENS = ["overview", "jobs", "failures", "lanes", "jobs?q=state%3Afailed", "workers"];
const STAY_JOBS = 60;
const STAY_RATE = 20;
const PROGRAM = fileURLToPath(new URL("replay.child.ts", import.meta.url));

/** Stays on every screen for a few seconds while jobs flow. */
export async function recordScreens(
  browser: ColdBrowser,
  worker: LatencyWorker,
  mill: Millrace,
): Promise<readonly Recorded[]> {
  const page = await browser.page();
  const began = performance.now();
  const recorded: Recorded[] = [];
  page.on("request", (request) => {
    const { pathname, search } = new URL(request.url());
    if (request.method() !== "GET" || !pathname.startsWith("/api/")) return;
    if (pathname.endsWith("/changes")) return;
    recorded.push({ atMs: Math.round(performance.now() - began), path: pathname + search });
  });
  for (const screen of SCREENS) {
    await page.goto(`${browser.origin}/#/${screen}`);
    await worker.measure(mill, STAY_JOBS, STAY_RATE);
  }
  await page.context().close();
  return recorded;
}

/** Clients that repeat the requests until they are disposed of. */
export async function replay(
  origin: string,
  token: string,
  clients: number,
  requests: readonly Recorded[],
): Promise<AsyncDisposable & { readonly answered: () => number }> {
  const child = fork(PROGRAM, [], { execArgv: ["--conditions=source"] });
  let answered = 0;
  child.on("message", (count: number) => (answered = count));
  child.send({ origin, token, clients, requests });
  await once(child, "message");
  return {
    answered: () => answered,
    async [Symbol.asyncDispose]() {
      const ended = once(child, "exit");
      child.disconnect();
      await ended;
    },
  };
}
