/** What explain says about a job that several pauses, limits or rates hold back. */
import { defineJob } from "millrace";
import { expect, test } from "vitest";
import { latch, openTest } from "../support.ts";

const work = defineJob({ type: "work" }).run(() => "done");

test("explain names the pause without an end, and the others", async () => {
  await using kit = await openTest();
  const { mill, store } = kit;
  const { id } = await mill.enqueue(work, undefined, { tenant: "acme" });
  await mill.pause({ lane: "general" }, "full disk");
  await mill.pause({ tenant: "acme" }, "audit");
  const gates = await store.gates();
  // A type whose jobs kill their workers is paused until a time.
  const type = {
    ...gates[0]!,
    kind: "type",
    name: "work",
    until: kit.clock.now() + 5_000,
  } as const;
  Reflect.set(store, "gates", () => Promise.resolve([type, ...gates]));

  const { sentence, until } = await mill.jobs.explain(id);

  expect(until).toBeUndefined();
  expect(sentence).toMatch(/^The (lane general|tenant acme) is paused: /);
  expect(sentence).toMatch(/The type work is paused as well\.$/);
  for (const name of ["lane general", "tenant acme"]) expect(sentence).toContain(name);
});

test("explain names the other limits that are used up", async () => {
  await using kit = await openTest();
  const { mill } = kit;
  const end = latch();
  const slow = defineJob({ type: "work" }).run(() => end.passed);
  await mill.limits.set({ type: "work" }, { concurrency: 1 });
  await mill.limits.set({ tenant: "default" }, { concurrency: 1 });
  const [, { id }] = await mill.enqueueMany([slow.of(), slow.of()]);
  mill.work({ jobs: [slow], lanes: { general: 5 } });
  await kit.settled();
  const sentence = async (): Promise<string> => (await mill.jobs.explain(id)).sentence;

  expect(await sentence()).toMatch(/^The limit of 1 running job of .* is used up\. The limit of /);
  expect(await sentence()).toContain("the type work");
  expect(await sentence()).toContain("the tenant default");
  await mill.limits.remove({ tenant: "default" });
  expect(await sentence()).toBe("The limit of 1 running job of the type work is used up.");
  end.open();
});

test("explain names the rate that is the last to have a token", async () => {
  await using kit = await openTest();
  const { mill } = kit;
  await mill.limits.set({ type: "work" }, { rate: { limit: 1, per: "1m" } });
  await mill.limits.set({ tenant: "default" }, { rate: { limit: 1, per: "1h" } });
  const [, { id }] = await mill.enqueueMany([work.of(), work.of()]);
  mill.work({ jobs: [work] });
  await kit.settled();

  expect(await mill.jobs.explain(id)).toMatchObject({
    sentence: expect.stringMatching(
      /^The rate of the tenant default allows .*Z\. The rate of the type work has no token /,
    ),
    until: new Date(kit.clock.now() + 3_600_000),
    details: { kind: "tenant", name: "default" },
  });
});
