/**
 * A caller of one tenant learns and changes nothing of another tenant.
 *
 *     node --conditions=source scripts/show/tenant-isolation.ts [--store sqlite|postgres]
 *
 * Every verb of the store, every method of a mill, every route and the commands are tried with ids
 * and names of another tenant. Prints the attempts per surface and what leaks, then the same routes
 * and commands with a credential of the right tenant, and finally a planted leak, which must be
 * found. Ends with 1 if there is a leak, or if the planted one is missed.
 */
import { runCommandLine } from "../../src/cli/program.ts";
import { Client } from "../../src/client/client.ts";
import { tenantStore } from "../../src/client/tenants/tenant-store.ts";
import { defaults } from "../../src/core/presets.ts";
import { createHandler, toNodeHandler } from "../../src/http/index.ts";
import { createServer } from "node:http";
import { once } from "node:events";
import { openMillrace, type Millrace } from "../../src/index.ts";
import { systemClock, systemDice } from "../../src/lib/system.ts";
import { makeStore } from "../../src/make-store.ts";
import { parseDatabaseUrl } from "../../src/client/database-url.ts";
import type { JobStore } from "../../src/store/store.ts";
import { VERBS } from "../../src/store/verbs.ts";
import { testLogger } from "../../test/support/logger.ts";
import { auditMethods, methodsOf } from "../../test/support/tenants/methods.ts";
import {
  auditRoutes,
  commandsFor,
  leaksOf,
  maskedText,
  secretFor,
  targetsOf,
  type Isolation,
  type Target,
} from "../../test/support/tenants/requests.ts";
import { fillTenants, OTHER, OWN, type TenantScene } from "../../test/support/tenants/scene.ts";
import { auditVerbs } from "../../test/support/tenants/verbs.ts";
import { Places } from "./lib/databases.ts";
import { numbersAndStores } from "./lib/options.ts";

async function main(): Promise<void> {
  const { stores } = numbersAndStores("tenant-isolation.ts", {});
  for (const kind of stores) {
    await using places = await Places.open(kind);
    const next = (): string => places.next();
    const surfaces: Readonly<Record<string, () => Promise<Isolation>>> = {
      "verbs of the store": () => verbs(next()),
      "methods of a mill": () => methods(next()),
      "routes of the server": () => routes(next()),
      "commands through a server": () => commands(next()),
    };
    for (const [name, surface] of Object.entries(surfaces)) {
      const { attempts, leaks, succeeded, forbidden, failed } = await surface();
      print(`${kind}: ${name}: ${attempts} attempts, ${leaks.length} leaks`);
      const others = forbidden === 0 ? "" : `, ${forbidden} concern all tenants`;
      const what = /^(verbs|methods)/.exec(name)?.[0];
      const succeed = what === undefined ? "succeed" : `${what} tell its data`;
      print(`  with the right tenant: ${succeeded} ${succeed}${others}`);
      if (failed.length > 0)
        print(`  with the right tenant, refused after others: ${failed.join(", ")}`);
      for (const leak of leaks) print(`  ${leak}`);
      if (leaks.length > 0 || attempts === 0 || succeeded === 0) process.exitCode = 1;
    }
    const planted = await plantedLeak(next());
    print(`${kind}: a planted leak: ${planted} findings`);
    if (planted === 0) process.exitCode = 1;
  }
}

async function opened(url: string): Promise<{ store: JobStore; scene: TenantScene }> {
  const store = await makeStore(parseDatabaseUrl(url));
  await store.open();
  return { store, scene: await fillTenants(store) };
}

async function verbs(url: string): Promise<Isolation> {
  const { store, scene } = await opened(url);
  let attempts = 0;
  const leaks = await auditVerbs(tenantStore(store, OWN), scene, VERBS, () => (attempts += 1));
  const right = await auditVerbs(tenantStore(store, OTHER), scene, VERBS);
  await store.close();
  return { attempts, leaks, ...told(right) };
}

/** The right tenant learns of its own jobs by the same calls: so many verbs or methods tell it. */
function told(findings: readonly string[]): Pick<Isolation, "succeeded" | "forbidden" | "failed"> {
  const names = new Set(findings.map((finding) => finding.split(" ", 1)[0]));
  return { succeeded: names.size, forbidden: 0, failed: [] };
}

async function methods(url: string): Promise<Isolation> {
  const { store, scene } = await opened(url);
  const ports = { clock: systemClock, dice: systemDice, logger: testLogger };
  await using all = new Client({ store, ...ports, tenant: "default", preset: defaults });
  const own = methodsOf(all.forTenant(OWN));
  let attempts = 0;
  const tried = (): void => void (attempts += 1);
  const leaks = await auditMethods(own, { all, scene }, Object.keys(own), tried);
  // The listener of the control would wait for an event of the first tenant.
  const paths = Object.keys(own).filter((path) => path !== "on");
  const right = await auditMethods(methodsOf(all.forTenant(OTHER)), { all, scene }, paths);
  return { attempts, leaks, ...told(right) };
}

async function routes(url: string): Promise<Isolation> {
  const { store, scene } = await opened(url);
  await using mill = await openMillrace(store, { logger: testLogger });
  return await auditRoutes(mill, scene);
}

/** Commands with `--server`, which know the caller by the token in MILLRACE_TOKEN. */
async function commands(url: string): Promise<Isolation> {
  const { store, scene } = await opened(url);
  await using mill = await openMillrace(store, { logger: testLogger });
  const server = createServer(toNodeHandler(createHandler({ mill, logger: testLogger })));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const bound = server.address();
  const port = typeof bound === "object" && bound !== null ? bound.port : 0;
  const address = `http://127.0.0.1:${port}`;
  const secrets = { own: await secretFor(mill, OWN), other: await secretFor(mill, OTHER) };
  const { known, unknown } = targetsOf(scene);
  const type = typer(address);
  const [asked, absent] = [commandsFor(known), commandsFor(unknown)];
  const leaks: string[] = [];
  for (const [index, words] of asked.entries()) {
    const found = await type(secrets.own, words, known);
    const missing = await type(secrets.own, absent[index] ?? [], unknown);
    leaks.push(...leaksOf(words.slice(0, 2).join(" "), found, missing));
  }
  const control = { succeeded: 0, forbidden: 0, failed: [] as string[] };
  for (const words of asked) {
    const { status, text } = await type(secrets.other, words, known);
    if (status === 0) control.succeeded += 1;
    else if (/^(FORBIDDEN|SERVER_REFUSED)/.test(text)) control.forbidden += 1;
    else control.failed.push(`${words.slice(0, 2).join(" ")} ${/^[A-Z_]+/.exec(text)?.[0]}`);
  }
  server.close();
  server.closeAllConnections();
  return { attempts: asked.length, leaks, ...control };
}

function typer(address: string) {
  return async (
    secret: string,
    words: readonly string[],
    target: Target,
  ): Promise<{ status: number; text: string }> => {
    process.env["MILLRACE_TOKEN"] = secret;
    let text = "";
    const add = (part: string): void => void (text += part);
    const args = [...words, "--server", address];
    const status = await runCommandLine(args, { out: add, err: add });
    return { status, text: maskedText(text, target) };
  };
}

/** The store of a tenant whose `get` and a mill whose tenants forget their filter. */
async function plantedLeak(url: string): Promise<number> {
  const { store, scene } = await opened(url);
  const leaky = { ...tenantStore(store, OWN), get: (id: string) => store.get(id) };
  const found = await auditVerbs(leaky, scene, ["get"]);
  const mill = await openMillrace(store, { logger: testLogger });
  const open: Millrace = Object.create(mill, { forTenant: { value: () => mill } });
  const { leaks } = await auditRoutes(open, scene);
  await mill.close();
  return Math.min(found.length, leaks.length);
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

await main();
