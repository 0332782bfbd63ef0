import { describe, expect, test } from "vitest";
import { makeSqliteStore } from "../../store/sqlite/create.ts";
import { removeCancelled } from "../../../test/support/http/streams.ts";
import { defineJob } from "../../api/define.ts";
import type { StreamMessage, StreamOptions } from "../../api/stream.ts";
import { openMillrace } from "../../open.ts";
import type { Verb } from "../../store/verbs.ts";
import { wrapStore } from "../../store/wrap-store.ts";

const greet = defineJob({ type: "greet" }).run(async () => {});
const other = defineJob({ type: "other" }).run(async () => {});

describe("mill.stream", () => {
  test("of a tenant has the removal of its own jobs, and of no others", async () => {
    await using scene = await withRemovedJobs();
    const { mill, ids } = scene;

    const streamed = await eventsOf(mill.forTenant("acme").stream({ after: "0", ping: "1ms" }));

    expect(streamed).toEqual([
      { event: "job:deleted", data: { id: ids.acme }, job: { type: "greet", tenant: "acme" } },
      { event: "job:deleted", data: { id: ids.acmeOther }, job: { type: "other", tenant: "acme" } },
    ]);
  });

  test.each([
    ["tenant", { tenant: "acme", type: "greet" }, ["acme"]],
    ["type", { type: "greet" }, ["acme", "globex"]],
    ["correlation", { correlationId: "order-1" }, ["globex"]],
    ["event", { events: ["job:enqueued"] }, []],
  ] as const)("filters removals by %s", async (_, filter: StreamOptions, wanted) => {
    await using scene = await withRemovedJobs();

    const streamed = await eventsOf(scene.mill.stream({ ...filter, after: "0", ping: "1ms" }));

    expect(new Set(streamed.map(({ data }) => data.id))).toEqual(
      new Set(wanted.map((name) => scene.ids[name])),
    );
  });

  test("of one job has its removal as the last event", async () => {
    await using scene = await withRemovedJobs();
    const { mill, ids } = scene;

    const streamed = await eventsOf(mill.stream({ job: ids.acme, after: "0", ping: "1ms" }));

    expect(streamed.map(({ event }) => event)).toEqual(["job:deleted"]);
  });
});

describe("the snapshots of mill.stream", () => {
  test("are one read for streams that begin at the same moment", async () => {
    const { store, counts } = countedStore();
    await using mill = await openMillrace(store);
    const { id } = await mill.enqueue(greet);

    const snapshots = await Promise.all([firstOf(mill.stream()), firstOf(mill.stream())]);

    expect(snapshots).toMatchObject([
      { type: "snapshot", jobs: [{ id }], stats: { queued: 1 } },
      { type: "snapshot", jobs: [{ id }], stats: { queued: 1 } },
    ]);
    // The pages that all streams share look the end of the feed up as well.
    expect(counts).toMatchObject({ feedEnd: 2, list: 1, stats: 1 });
  });

  test("are those of the jobs that each stream is about", async () => {
    const { store } = countedStore();
    await using mill = await openMillrace(store);
    const [greeted, done] = [await mill.enqueue(greet), await mill.enqueue(other)];
    const streams = [{ type: "greet" }, { type: "other" }, { job: done.id }];

    const snapshots = await Promise.all(streams.map((options) => firstOf(mill.stream(options))));

    expect(snapshots).toMatchObject([
      { jobs: [{ id: greeted.id }] },
      { jobs: [{ id: done.id }] },
      { jobs: [{ id: done.id }], stats: null },
    ]);
  });
});

/** A store that counts the calls of its verbs. */
function countedStore() {
  const counts: Partial<Record<Verb, number>> = {};
  const store = wrapStore(makeSqliteStore({ path: ":memory:" }), (verb) => (call) => {
    counts[verb] = (counts[verb] ?? 0) + 1;
    return call();
  });
  return { store, counts };
}

async function firstOf(stream: ReadableStream<StreamMessage>) {
  const reader = stream.getReader();
  const { value } = await reader.read();
  await reader.cancel();
  return value;
}

/** Three jobs of two tenants that are removed, so that only the feed knows of them. */
async function withRemovedJobs() {
  const store = makeSqliteStore({ path: ":memory:" });
  const mill = await openMillrace(store);
  const order = { correlationId: "order-1" };
  const jobs = {
    acme: await mill.enqueue(greet, undefined, { tenant: "acme" }),
    acmeOther: await mill.enqueue(other, undefined, { tenant: "acme" }),
    globex: await mill.enqueue(greet, undefined, { tenant: "globex", ...order }),
  };
  for (const { id } of Object.values(jobs)) await mill.jobs.cancel(id, "not needed");
  await removeCancelled(store);
  const ids = { acme: jobs.acme.id, acmeOther: jobs.acmeOther.id, globex: jobs.globex.id };
  return { mill, ids, [Symbol.asyncDispose]: () => mill.close() };
}

/** The events up to the first ping. */
async function eventsOf(stream: ReadableStream<StreamMessage>) {
  const found = [];
  for await (const message of stream) {
    if (message.type === "ping") break;
    if (message.type !== "event") continue;
    const { event, data, job } = message;
    found.push({ event, data, job });
  }
  return found;
}
