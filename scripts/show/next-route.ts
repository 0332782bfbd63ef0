/**
 * Shows the HTTP API inside a real Next.js application: packs the package, installs it and Next.js
 * into a temporary folder, starts `next dev`, and calls a route handler that mounts the API.
 *
 *     node scripts/show/next-route.ts
 *
 * Needs the npm registry. Takes about a minute.
 */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { root } from "../lib/command.ts";

const READY_MS_MAX = 60_000;

const FILES: Readonly<Record<string, string>> = {
  "package.json": '{ "private": true, "type": "module" }',
  "next.config.mjs": 'export default { serverExternalPackages: ["millrace"] };',
  "app/layout.tsx": "export default ({ children }: any) => <html><body>{children}</body></html>;",
  "app/page.tsx": "export default () => <p>own page</p>;",
  "app/jobs/[...path]/route.ts": `
    import { openMillrace } from "millrace";
    import { createHandler } from "millrace/http";
    const mill = await openMillrace("sqlite:./millrace.db");
    const handler = createHandler({
      mill,
      basePath: "/jobs",
      authenticate: (request) => {
        const actor = request.headers.get("x-user");
        return actor === null ? null : { actor, roles: ["manager"], tenant: "acme" };
      },
    });
    export { handler as GET, handler as POST, handler as PUT, handler as DELETE };
    export const dynamic = "force-dynamic";`,
};

const folder = mkdtempSync(join(tmpdir(), "millrace-next-"));
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
for (const [path, text] of Object.entries(FILES)) {
  mkdirSync(join(folder, path, ".."), { recursive: true });
  writeFileSync(join(folder, path), text);
}
await run("npm", ["pack", "--pack-destination", folder], root);
const packages = ["next", "react", "react-dom", "typescript", "@types/react", "@types/node"];
await run(
  "npm",
  ["install", "--no-audit", "--no-fund", ...packages, "./millrace-0.1.0.tgz"],
  folder,
);

const port = await freePort();
const base = `http://127.0.0.1:${port}`;
const next = spawn("npx", ["next", "dev", "-p", String(port), "-H", "127.0.0.1"], {
  cwd: folder,
  env: { ...process.env, NEXT_TELEMETRY_DISABLED: "1" },
  stdio: "ignore",
  detached: true,
});
try {
  await ready();
  await show();
  console.log("sound: the API answers inside Next.js");
} finally {
  // The group: npx, next and its server.
  if (next.pid !== undefined) process.kill(-next.pid, "SIGTERM");
}

async function show(): Promise<void> {
  const own = { "x-user": "ada", origin: base, "content-type": "application/json" };
  const body = JSON.stringify({ type: "greet", payload: { name: "Ada" } });
  const made = await fetch(`${base}/jobs/api/v1/jobs`, { method: "POST", headers: own, body });
  const job = await fetch(`${base}${made.headers.get("location")}`, { headers: own });
  const anonymous = await fetch(`${base}/jobs/api/v1/jobs`);
  const foreign = { ...own, origin: "https://evil.example" };
  const cross = await fetch(`${base}/jobs/api/v1/jobs`, { method: "POST", headers: foreign, body });
  const leaving = new AbortController();
  const { signal } = leaving;
  const stream = await fetch(`${base}/jobs/api/v1/events`, { headers: own, signal });
  let text = "";
  for await (const chunk of stream.body ?? []) {
    text += Buffer.from(chunk).toString();
    if (text.includes("event: snapshot")) break;
  }
  leaving.abort();
  const statuses = [made, job, anonymous, cross, stream].map(({ status }) => status);
  console.log(`enqueue, read, anonymous, cross-site, stream: ${statuses.join(", ")}`);
  assert.deepEqual(statuses, [201, 200, 401, 403, 200]);
  const { tenant, createdBy }: any = await job.json();
  assert.deepEqual({ tenant, createdBy }, { tenant: "acme", createdBy: "ada" });
}

async function ready(): Promise<void> {
  for (let waitedMs = 0; waitedMs < READY_MS_MAX; waitedMs += 500) {
    const response = await fetch(base).catch(() => null);
    if (response?.ok === true) return;
    await setTimeout(500);
  }
  throw new Error("next dev does not answer");
}

async function run(command: string, args: readonly string[], cwd: string): Promise<void> {
  const child = spawn(command, args, { cwd, stdio: ["ignore", "ignore", "inherit"] });
  const [code] = await once(child, "close");
  assert.equal(code, 0, `${command} ${args[0]} failed`);
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- It listens on a port.
  const { port: found } = probe.address() as AddressInfo;
  probe.close();
  return found;
}
