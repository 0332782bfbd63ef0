/** `millrace enqueue` through a server, and following a job there. */
import { defineJob, typed } from "millrace";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { type } from "../command-line.ts";
import { comparable, ServedStore } from "./served-store.ts";

const greet = defineJob({ type: "greet", payload: typed<{ name: string }>() });
const slow = defineJob({ type: "slow" });

let store: ServedStore;
beforeAll(async () => {
  store = await ServedStore.open();
});
afterAll(() => store[Symbol.asyncDispose]());

describe("millrace enqueue --server", () => {
  test("stores the same job as on the database", async () => {
    const options =
      "--no-jobs --tenant acme --priority high --run-at 2031-01-01T00:00:00Z --tag area=north " +
      "--tag n:1=a=b --idempotency-key key-N --dedup-key dedup-N";
    const words = (n: number): string[] => [
      "enqueue",
      "greet",
      '{"name":"Ada"}',
      ...options.replaceAll("N", String(n)).split(" "),
    ];
    const one = await store.local(...words(1));
    const other = await store.remote(...words(2));
    const again = await store.remote(...words(2));

    const [a, b] = [await viewOf(one.out), await viewOf(other.out)];
    expect({ code: other.code, err: other.err }).toEqual({ code: 0, err: "" });
    expect(again.out).toBe(other.out);
    expect(again.err).toBe("The job already existed; no second job was enqueued.\n");
    expect({ ...b, ...own(a) }).toEqual(a);
    expect(b).toMatchObject({ createdBy: "ada", dedupKey: "dedup-2", priority: 50 });
  });

  test("follows the job to its end, and prints the result", async () => {
    const worker = store.mill.work({
      jobs: [greet.run(({ name }, ctx) => (ctx.log.info("greeting"), `Hello ${name}`))],
    });
    const words = ["enqueue", "greet", '{"name":"Ada"}', "--no-jobs", "--follow"];
    const [local, remote] = [await store.local(...words), await store.remote(...words)];
    const json = await store.remote(...words, "-o", "json");
    await worker.stop();

    expect({ code: remote.code, out: remote.out }).toEqual({ code: local.code, out: local.out });
    expect(remote).toMatchObject({ code: 0, out: '"Hello Ada"\n' });
    expect(remote.err).toContain("greeting");
    expect(JSON.parse(json.out)).toMatchObject({ state: "completed", result: "Hello Ada" });
  });

  test("refuses what the database refuses, with the same exit code", async () => {
    const jobs = [
      ["enqueue", "greet", "{}", "--priority", "urgent"],
      ["enqueue", "greet", "{}", "--run-at", "tomorrow"],
      ["enqueue", "", "{}"],
      ["enqueue", "greet", "{}", "--tenant", ""],
    ];
    for (const words of jobs) {
      const local = await store.local(...words, "--no-jobs");
      const remote = await store.remote(...words, "--no-jobs");

      expect([words, remote.code, remote.out]).toEqual([words, local.code, local.out]);
      expect(remote.err).not.toContain("bug");
    }
  });

  test("takes the job file of the server, and no own one", async () => {
    await using served = await ServedStore.open("--jobs", "jobs.ts");
    const good = await served.remote("enqueue", "greet", '{"name":"Ada"}');
    const unknown = await served.remote("enqueue", "gret", '{"name":"Ada"}');
    const refused = await served.remote("enqueue", "greet", '{"name":"Ada"}', "--jobs", "jobs.ts");

    expect(await served.mill.jobs.get(good.out.trim())).toMatchObject({ lane: "fast" });
    expect(unknown).toMatchObject({ code: 2, err: expect.stringContaining("Did you mean greet?") });
    expect(refused.code).toBe(2);
    expect(refused.err).toContain("--jobs goes with --db: a server has a job file of its own");
  });

  test("needs no more than the token of a producer", async () => {
    const token = await store.mill.tokens.create({
      kind: "producer",
      name: "shop",
      types: ["greet"],
    });
    const good = await store.remoteAs(token.secret, "enqueue", "greet", '{"name":"Ada"}');
    const other = await store.remoteAs(token.secret, "enqueue", "slow");
    const list = await store.remoteAs(token.secret, "jobs", "list");

    expect({ code: good.code, err: good.err }).toEqual({ code: 0, err: "" });
    expect(other).toMatchObject({ code: 1, out: "" });
    expect(other.err).toContain("The token may enqueue greet, not slow.");
    expect(list.err).toContain("the credential has the kind producer");
  });
});

describe("millrace jobs follow --server", () => {
  test("goes on when the server restarts", async () => {
    await using served = await ServedStore.open();
    const job = await served.mill.enqueue(slow);
    const { port } = new URL(served.address);

    const following = served.remote("jobs", "follow", job.id, "--timeout", "60s");
    await vi.waitUntil(async () => (await lastUse(served)) !== null, { timeout: 10_000 });
    served.server.child.kill("SIGTERM");
    await served.server.ended;
    const next = served.startServer("--port", port);
    await next.said(/^Millrace is at/m);
    const worker = served.mill.work({ jobs: [slow.run(() => "done")] });
    const { code, out } = await following;
    await worker.stop();
    next.child.kill("SIGTERM");
    await next.ended;

    expect({ code, out }).toEqual({ code: 0, out: '"done"\n' });
  });

  test("says after --timeout where the job stands", async () => {
    const job = await store.mill.enqueue(slow);

    const words = ["jobs", "follow", job.id, "--timeout", "500ms"];
    const remote = comparable(await store.remote(...words), job.id);

    expect(remote.code).toBe(124);
    expect(remote.err).toContain("WAIT_TIMED_OUT: job id-0 is still queued after AGE");
    expect(remote.err).toContain("millrace jobs explain id-0 PLACE");
  });
});

test("without --server, MILLRACE_SERVER names the server, and --db wins over it", async () => {
  vi.stubEnv("MILLRACE_TOKEN", store.secret);
  vi.stubEnv("MILLRACE_SERVER", store.address);
  const { id } = await store.mill.enqueue(slow, undefined, { tags: { where: "here" } });
  const there = await type("jobs", "list", "--tag", "where=here", "-o", "json");
  const elsewhere = await type("jobs", "list", "--db", "sqlite:./nowhere.db");
  vi.stubEnv("MILLRACE_SERVER", "");
  const none = await type("jobs", "list", "--db", store.db, "--tag", "where=here", "-o", "json");
  vi.unstubAllEnvs();

  expect(JSON.parse(there.out).jobs).toMatchObject([{ id }]);
  expect(elsewhere).toMatchObject({ code: 5 });
  expect(none.out).toBe(there.out);
});

async function viewOf(id: string): Promise<object> {
  return store.mill.jobs.get(id.trim());
}

/** What belongs to one job alone. */
function own(view: object): object {
  const names = ["id", "correlationId", "createdAt", "createdBy", "idempotencyKey", "dedupKey"];
  return Object.fromEntries(Object.entries(view).filter(([name]) => names.includes(name)));
}

async function lastUse({ mill }: ServedStore): Promise<Date | null> {
  const [token] = await mill.tokens.list({ kind: "person" });
  return token?.lastUsedAt ?? null;
}
