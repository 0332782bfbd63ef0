/**
 * A caller of one tenant learns and changes nothing of another tenant.
 *
 *     node --conditions=source scripts/show/tenant-isolation.ts [--store sqlite|postgres]
 *
 * Every verb of the store, every method of a mill, every route and every command with --server that
 * does not wait are tried with ids and names of another tenant. Prints the attempts per surface and
 * what leaks, then what a credential of the right tenant may do with the same routes and commands,
 * and finally a planted leak, which must be found. What the right tenant is refused after other
 * calls, because they have changed its jobs, is tried again in a scene of its own. Ends with 1 if
 * there is a leak, if the right tenant is refused, or if the planted leak is missed.
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
import { commandsFor } from "../../test/support/tenants/commands.ts";
import {
  auditRoutes,
  isToldOwn,
  leaksOf,
  maskedText,
  refusedAlone,
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
      "commands through a server": () => commands(next(), next),
    };
    for (const [name, surface] of Object.entries(surfaces)) {
      const { attempts, leaks, succeeded, forbidden, failed } = await surface();
      print(`${kind}: ${name}: ${attempts} attempts, ${leaks.length} leaks`);
      const others = forbidden === 0 ? "" : `, ${forbidden} concern all tenants`;
      const what = /^(verbs|methods)/.exec(name)?.[0];
      const succeed = what === undefined ? "succeed" : `${what} tell its data`;
      const refused = await refusedAgain(name.startsWith("routes"), failed, next);
      const alone = failed.length === 0 ? "" : ` (${failed.length - refused.length} of them alone)`;
      const all = succeeded + failed.length - refused.length;
      print(`  with the right tenant: ${all} ${succeed}${alone}${others}`);
      for (const each of refused) print(`  the right tenant is refused: ${each}`);
      for (const leak of leaks) print(`  ${leak}`);
      const isSound = leaks.length === 0 && refused.length === 0;
      if (!isSound || attempts === 0 || succeeded === 0) process.exitCode = 1;
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

/** Of what the right tenant was refused, what it is refused although no other call came before. */
async function refusedAgain(
  areRoutes: boolean,
  names: readonly string[],
  next: () => string,
): Promise<readonly string[]> {
  const refused: (string | null)[] = [];
  for (const name of names) {
    if (areRoutes) {
      const { store, scene } = await opened(next());
      await using mill = await openMillrace(store, { logger: testLogger });
      refused.push(await refusedAlone(mill, scene, name));
    } else {
      await served(next(), OTHER, async ({ type, scene }) => {
        const { known } = targetsOf(scene);
        const words = commandsFor(known).find((each) => nameOf(each) === name) ?? [];
        const { status, text } = await type(words, known);
        if (status !== 0 && !isToldOwn(text)) refused.push(`${name}: ${text.split("\n", 1)[0]}`);
      });
    }
  }
  return refused.filter((each) => each !== null);
}

/** The words of a command before its arguments and options. */
function nameOf(words: readonly string[]): string {
  return words.slice(0, words[1]?.startsWith("-") === true ? 1 : 2).join(" ");
}

/** Commands with `--server`, which know the caller by the token in MILLRACE_TOKEN. */
async function commands(url: string, next: () => string): Promise<Isolation> {
  const leaks: string[] = [];
  let attempts = 0;
  await served(url, OWN, async ({ type, scene }) => {
    const { known, unknown } = targetsOf(scene);
    const absent = commandsFor(unknown);
    for (const [index, words] of commandsFor(known).entries()) {
      const found = await type(words, known);
      const missing = await type(absent[index] ?? [], unknown);
      leaks.push(...leaksOf(nameOf(words), found, missing));
      attempts += 1;
    }
  });
  const control = { succeeded: 0, forbidden: 0, failed: [] as string[] };
  await served(next(), OTHER, async ({ type, scene }) => {
    const { known } = targetsOf(scene);
    for (const words of commandsFor(known)) {
      const { status, text } = await type(words, known);
      // A drain tells at its time limit what still runs.
      if (status === 0 || words[0] === "drain") control.succeeded += 1;
      else if (/^(FORBIDDEN|SERVER_REFUSED)/.test(text)) control.forbidden += 1;
      else control.failed.push(nameOf(words));
    }
  });
  return { attempts, leaks, ...control };
}

interface Served {
  readonly scene: TenantScene;
  readonly type: (words: readonly string[], target: Target) => ReturnType<ReturnType<typeof typer>>;
}

/** A server, and commands that reach it with the token of a tenant. */
async function served(
  url: string,
  tenant: string,
  work: (server: Served) => Promise<void>,
): Promise<void> {
  const { store, scene } = await opened(url);
  await using mill = await openMillrace(store, { logger: testLogger });
  const server = createServer(toNodeHandler(createHandler({ mill, logger: testLogger })));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const bound = server.address();
  const port = typeof bound === "object" && bound !== null ? bound.port : 0;
  const secret = await secretFor(mill, tenant);
  const type = typer(`http://127.0.0.1:${port}`);
  await work({ scene, type: (words, target) => type(secret, words, target) });
  server.close();
  server.closeAllConnections();
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
