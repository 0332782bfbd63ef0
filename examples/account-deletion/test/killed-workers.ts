/** Workers that kill themselves at a place of the store, one after the other. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { urlAs } from "../src/install.ts";
import type { World } from "./world.ts";

const CHILD = join(import.meta.dirname, "worker.child.ts");
/** The verbs that the tasks of supervisors and channels pass. */
const VERBS = ["record", "runFunction", "settle", "claim"];

/** Before and after each verb, when the process passes it for the n-th time. */
export function killPlaces(pass: number): string[] {
  return VERBS.flatMap((verb) => [`before:${verb}=kill@${pass}`, `after:${verb}=kill@${pass}`]);
}

/**
 * Starts a worker for each place, each when the one before is dead, and at last one that lives
 * until no task is open. Returns the places at which a worker has died: the work may end before
 * others.
 */
export async function workAndDie(world: World, places: readonly string[]): Promise<string[]> {
  const died: string[] = [];
  for (const place of [...places, null]) {
    if ((await world.openTasks()).length === 0) break;
    if ((await runWorker(world, place)) && place !== null) died.push(place);
  }
  return died;
}

/** Returns whether the worker has killed itself. When no task is open, this process kills it. */
async function runWorker(world: World, place: string | null): Promise<boolean> {
  const { smtp, sms, files } = world.services;
  const url = urlAs("engine_service_user", world.url);
  const child = spawn(process.execPath, ["--conditions=source", CHILD, url, smtp, sms, files], {
    env: { ...process.env, MILLRACE_FAILPOINTS: place ?? "" },
    stdio: "ignore",
  });
  const closed = once(child, "close");
  const isAlive = (): boolean => child.exitCode === null && child.signalCode === null;
  while (isAlive() && (await world.openTasks()).length > 0) await sleep(50);
  if (!isAlive()) return true;
  child.kill("SIGKILL");
  await closed;
  return false;
}
