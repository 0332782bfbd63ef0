/**
 * Writes `dashboard/src/api/operations.gen.ts`: the types of every call of the HTTP API, made from
 * the OpenAPI document, so that the page is checked against the schemas that the server obeys.
 *
 *     node --conditions=source scripts/embed-api.ts [--check]
 */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { createApp } from "../src/http/app.ts";
import { makeParts } from "../src/http/make-parts.ts";
import { root } from "./lib/command.ts";
import { operationTypes } from "./lib/api-types.ts";
import { openMillrace } from "../src/index.ts";

const FILE = join(root, "dashboard", "src", "api", "operations.gen.ts");

const text = operationTypes(await documentOf());
if (process.argv.includes("--check")) {
  const isCurrent = readOrNull(FILE) === text;
  if (!isCurrent) console.log(`${FILE} is not what the routes give: run scripts/embed-api.ts`);
  process.exitCode = isCurrent ? 0 : 1;
} else {
  mkdirSync(dirname(FILE), { recursive: true });
  writeFileSync(FILE, text);
}

/** The document of an app without a socket, on a store in memory. */
async function documentOf(): Promise<any> {
  await using mill = await openMillrace("sqlite::memory:");
  const origin = { publicUrl: null, hosts: "any" } as const;
  const app = createApp(makeParts({ mill, identify: { origin }, failed: () => {} }));
  const answer = await app.fetch(new Request("http://localhost/openapi.json"));
  return answer.json();
}

function readOrNull(path: string): string | null {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return null;
  }
}
