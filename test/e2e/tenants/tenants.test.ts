/** Quotas and removals of tenants with several processes. */
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { defineJob, openMillrace } from "millrace";
import { startPostgres, type PostgresServer } from "../../support/postgres.ts";
import { Command } from "../command.ts";
import { ended, linesOf, startChild, temporaryFolder } from "../children.ts";

const STORES = ["sqlite", "postgres"] as const;
const PROCESSES = 3;
const WHY = { actor: "ada", reason: "the plan of acme" };
/** Jobs that each producer has under way. */
const AT_ONCE = 4;

let server: PostgresServer;
let folder: ReturnType<typeof temporaryFolder>;
beforeAll(async () => {
  folder = temporaryFolder();
  server = await startPostgres({ durable: false });
});
afterAll(async () => {
  folder[Symbol.dispose]();
  await server[Symbol.asyncDispose]();
});

async function urlOf(store: (typeof STORES)[number], name: string): Promise<string> {
  if (store === "sqlite") return `sqlite:${folder.path}/${name}.db`;
  const { default: pg } = await import("pg");
  const client = new pg.Client({ connectionString: server.url });
  await client.connect();
  await client.query(`CREATE DATABASE ${name}`);
  await client.end();
  return Object.assign(new URL(server.url), { pathname: `/${name}` }).toString();
}

describe.each(STORES)("with several processes on %s", (store) => {
  test("waiting jobs exceed their quota by a tenth for each other process at most", async () => {
    const url = await urlOf(store, "waiting");
    await using mill = await openMillrace(url);
    const quota = 200;
    await mill.tenants.setQuota("acme", { waiting: quota }, WHY);

    const made = await produced(url);

    const slack = (PROCESSES - 1) * (quota / 10 + AT_ONCE);
    expect(made).toBeLessThanOrEqual(quota + slack);
    expect(made).toBeGreaterThanOrEqual(quota - 10 - PROCESSES * AT_ONCE);
    expect((await mill.tenants.get("acme")).counts.queued).toBe(made);
  });

  test("a rate is not exceeded", async () => {
    const url = await urlOf(store, "rate");
    await using mill = await openMillrace(url);
    const burst = 100;
    await mill.tenants.setQuota("acme", { rate: { limit: burst, per: "30d" } }, WHY);

    const made = await produced(url);

    expect(made).toBeLessThanOrEqual(burst);
    // Tokens that a process has taken and not used are lost.
    expect(made).toBeGreaterThanOrEqual(burst - (PROCESSES * burst) / 10);
  });

  test("a removal whose process is killed is continued by the next", async () => {
    const url = await urlOf(store, "removal");
    await using mill = await openMillrace(url);
    const acme = mill.forTenant("acme");
    const job = defineJob({ type: "report" });
    const jobs = await acme.enqueueMany(Array.from({ length: 30 }, () => job.of()));
    for (const { id } of jobs) await acme.jobs.cancel(id);
    const child = startChild("quota.child.ts", ["remove", url]);
    let steps = 0;
    for await (const _ of linesOf(child)) if ((steps += 1) === 5) child.kill("SIGKILL");
    expect(await ended(child)).toBe("SIGKILL");
    const { removal } = await mill.tenants.get("acme");
    expect(removal).toMatchObject({ doneAt: null });

    const removed = await mill.tenants.remove("acme", { ...WHY, confirm: "acme" });

    expect(removed.removed).toBeGreaterThanOrEqual(jobs.length - 1);
    expect(Object.values(removed.rows).every((count) => count === 0)).toBe(true);
    expect((await acme.jobs.list()).jobs).toEqual([]);
  });
});

/** The moments at which the processes die, one after the other. */
const DEATHS = [
  "after:closeIntake=kill",
  "after:beginRemoval=kill",
  "after:cancel=kill@3",
  "after:removeOfTenant=kill@1",
  "after:removeOfTenant=kill@2",
] as const;

describe.each(STORES)("millrace tenants remove on %s", (store) => {
  test("is killed at every step, goes on where it was, and touches no other tenant", async () => {
    const url = await urlOf(store, "killed");
    await using mill = await openMillrace(url);
    const [acme, umbra] = [mill.forTenant("acme"), mill.forTenant("umbra")];
    const report = defineJob({ type: "report" });
    const requests = Array.from({ length: 700 }, () => report.of());
    for (const { id } of await acme.enqueueMany(requests)) await acme.jobs.cancel(id);
    await acme.enqueueMany(requests.slice(0, 10));
    await umbra.enqueueMany(requests.slice(0, 10));

    const left: number[] = [];
    for (const moment of DEATHS) {
      const command = removing(url, moment);
      await command.ended;
      expect({ moment, signal: command.child.signalCode }).toEqual({ moment, signal: "SIGKILL" });
      left.push((await acme.jobs.count()).count);
    }
    expect(left.at(-1)).toBeLessThan(left[0]!);
    expect(await refusalOf(acme.enqueue(report))).toBe("INTAKE_CLOSED");
    const last = removing(url);

    expect(await last.ended).toBe(0);
    const { rows } = JSON.parse(last.out);
    expect(Object.values(rows).every((count) => count === 0)).toBe(true);
    expect((await mill.tenants.get("acme")).removal).toMatchObject({ begunBy: "ada" });
    expect((await mill.tenants.get("acme")).removal?.doneAt).not.toBeNull();
    expect((await acme.jobs.list()).jobs).toEqual([]);
    expect((await umbra.jobs.count()).count).toBe(10);
  });
});

describe.each(STORES)("workers on %s", (store) => {
  test("end the removal of a command that was killed", async () => {
    const url = await urlOf(store, "continued");
    await using mill = await openMillrace(url);
    const [acme, umbra] = [mill.forTenant("acme"), mill.forTenant("umbra")];
    const report = defineJob({ type: "report" });
    const later = { delay: "1d" } as const;
    const requests = Array.from({ length: 700 }, () => report.of(undefined, later));
    await acme.enqueueMany(requests);
    await umbra.enqueueMany(requests.slice(0, 10));
    const command = removing(url, "after:beginRemoval=kill");
    await command.ended;
    expect(command.child.signalCode).toBe("SIGKILL");
    expect((await mill.tenants.get("acme")).removal).toMatchObject({ doneAt: null });

    const worker = mill.work({ jobs: [report.run(() => null)], signals: false });
    const removal = async () => (await mill.tenants.get("acme")).removal;
    await vi.waitUntil(async () => (await removal())?.doneAt !== null, { timeout: 240_000 });
    await worker.stop();

    expect(await removal()).toMatchObject({ begunBy: "ada", reason: "over" });
    expect((await acme.jobs.count()).count).toBe(0);
    expect((await umbra.jobs.count()).count).toBe(10);
    expect(await refusalOf(acme.enqueue(report))).toBe("INTAKE_CLOSED");
    const asked = await mill.audit.list({ tenant: "acme", name: "tenant_removal_requested" });
    expect(asked).toHaveLength(1);
  });
});

function removing(url: string, failpoints?: string): Command {
  const words = ["tenants", "remove", "acme", "--confirm", "acme", "--reason", "over"];
  const env = failpoints === undefined ? {} : { MILLRACE_FAILPOINTS: failpoints };
  return new Command(folder.path, [...words, "--by", "ada", "--db", url, "-o", "json"], env);
}

async function refusalOf(refused: Promise<unknown>): Promise<unknown> {
  return refused.then(
    () => null,
    (error) => error.code,
  );
}

/** How many jobs the producers have made together. */
async function produced(url: string): Promise<number> {
  const children = Array.from({ length: PROCESSES }, () =>
    startChild("quota.child.ts", ["enqueue", url]),
  );
  let made = 0;
  await Promise.all(
    children.map(async (child) => {
      for await (const line of linesOf(child)) made += Number(line);
      expect(await ended(child)).toBe(0);
    }),
  );
  return made;
}
