/** What explain says about a job of which several services are closed. */
import { defineJob, TransientError } from "millrace";
import { expect, test } from "vitest";
import { defaults } from "../../../src/core/presets.ts";
import { openTest } from "../support.ts";

const preset = { ...defaults, breaker: { failures: 1, openMs: 60_000 } };
const OPTIONS = { preset, lanes: { general: 1 } } as const;

test("explain names what keeps the job longest, and the other services (004-26)", async () => {
  await using kit = await openTest({ preset });
  const { mill } = kit;
  let isUp = false;
  const call = (): string => {
    if (!isUp) throw new TransientError("hung up");
    return "paid";
  };
  const sync = defineJob({ type: "sync", services: ["alpha", "beta", "gamma"] }).run((_, ctx) =>
    ctx.breaker("alpha", call),
  );
  await mill.enqueue(sync);
  await kit.drain([sync], OPTIONS);
  await mill.breakers.forceOpen("beta", "migration", { actor: "ada" });
  await mill.pause({ service: "gamma" }, "audit");
  const { id } = await mill.enqueue(sync);
  await kit.drain([sync], OPTIONS);
  const sentence = async (): Promise<string> => (await mill.jobs.explain(id)).sentence;

  expect(await sentence()).toMatch(
    /^The service gamma is paused: audit\. .*The services beta and alpha are closed as well\.$/,
  );
  await mill.resume({ service: "gamma" });
  expect(await mill.jobs.explain(id)).toMatchObject({
    reason: "breaker",
    hint: "To try it now: millrace breakers reset beta",
    details: { service: "beta", probeAt: null },
  });
  expect(await sentence()).toMatch(/kept open by ada: migration\..*service alpha is closed as/);
  await mill.breakers.reset("alpha");
  expect(await sentence()).toMatch(
    /The service beta .* kept open by ada: migration\. \d+ jobs? wait/,
  );
  expect(await sentence()).not.toContain("as well");
  isUp = true;
  await mill.breakers.reset("beta");
  await kit.drain([sync], OPTIONS);
  expect((await mill.jobs.get(id)).state).toBe("completed");
});
