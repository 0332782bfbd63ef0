/** Two releases of a small application: the second has other folders and other line numbers. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

/** What a job of a release throws, by its number. */
export interface Release {
  fail(kind: number, n: number): never;
}

/**
 * Three causes. The first two have the same message in different functions. The messages carry ids,
 * UUIDs, times, paths and line numbers.
 */
const SOURCE = `
export function fail(kind, n) {
  if (kind === 0) return chargeCard(n);
  if (kind === 1) return refundCard(n);
  return readFile(n);
}

function messageOf(n) {
  const hex = n.toString(16).padStart(12, "0");
  const uuid = "0193f0aa-0000-7000-8000-" + hex;
  const time = new Date(1_760_000_000_000 + n * 61_000).toISOString();
  const host = "10.0." + (n % 250) + ".7";
  return "card " + uuid + " of " + n + " was refused at " + time + " by " + host;
}

function chargeCard(n) {
  throw new Error(messageOf(n));
}

function refundCard(n) {
  throw new Error(messageOf(n));
}

function readFile(n) {
  const id = "01K7" + n.toString(32).toUpperCase().replace(/[ILOU]/g, "0").padStart(22, "0");
  const place = "/data/" + n + "/in.csv:" + n + ":" + (n % 80);
  throw new TypeError("job " + id + ": no column 'v" + n + "' in " + place);
}
`;

export async function writeReleases(folder: string): Promise<readonly [Release, Release]> {
  const first = await writeRelease(join(folder, "releases", "20261117", "dist"), SOURCE);
  const shifted = `${"// A comment that moves every line.\n".repeat(40)}${SOURCE}`;
  const second = await writeRelease(join(folder, "releases", "20261118", "dist"), shifted);
  return [first, second];
}

async function writeRelease(folder: string, source: string): Promise<Release> {
  mkdirSync(folder, { recursive: true });
  const path = join(folder, "payments.mjs");
  writeFileSync(path, source);
  const release: Release = await import(pathToFileURL(path).href);
  return release;
}
