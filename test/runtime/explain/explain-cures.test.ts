/** Each reason to wait is produced for real; after the cure that the hint names, the job runs. */
import assert from "node:assert/strict";
import { defineJob } from "millrace";
import { expect, test } from "vitest";
import { preset, SCENES } from "../../support/explain-scenes.ts";
import { openTest, type RuntimeTest } from "../support.ts";

test.each(Object.entries(SCENES))("%s is explained truly, and cured by its hint", async (...of) => {
  const [reason, scene] = of;
  await using kit = await openTest({ preset });
  const { id, sentence, details, hint, cure } = await scene({ ...kit, until: untilOf(kit) });
  await kit.settled();

  const explanation = await kit.mill.jobs.explain(id);
  expect(explanation).toMatchObject({
    reason,
    sentence,
    hint: expect.stringContaining(hint),
  });
  expect(explanation.details).toEqual(details);
  // The job waits until the cure, and no longer.
  await kit.settled();
  expect((await kit.mill.jobs.get(id)).state).not.toBe("completed");
  await cure();
  await kit.advance("5s");
  expect(await kit.mill.jobs.get(id)).toMatchObject({ state: "completed" });
});

/** What the mill of a tenant can do. */
const OWN_COMMANDS = /^millrace (?:jobs (?:explain|show|cancel|release|retry)|dlq show) /;

test.each(Object.entries(SCENES))(
  "%s names no command that a tenant may not run",
  async (...of) => {
    const [, scene] = of;
    await using kit = await openTest({ preset });
    const { id, end } = await scene({ ...kit, until: untilOf(kit) });
    await kit.settled();

    const { hint } = await kit.mill.forTenant("default").jobs.explain(id);

    const commands = hint.match(/millrace .*|mill\.\w.*|--lanes .*/g) ?? [];
    expect(commands.filter((command) => !OWN_COMMANDS.test(command))).toEqual([]);
    expect(hint).toMatch(/\.$|millrace/);
    end?.();
    await kit.settled();
  },
);

test("the hint for a tenant names the resume of its own pause, and of no other", async () => {
  await using kit = await openTest({ preset });
  const acme = kit.mill.forTenant("acme");
  const { id } = await acme.enqueue(defineJob({ type: "work" }));
  await kit.mill.pause({ tenant: "acme" }, "audit");
  expect((await acme.jobs.explain(id)).hint).toBe("To resume: millrace resume --tenant acme");
  await kit.mill.resume({ tenant: "acme" });
  await kit.mill.pause({ lane: "general" }, "audit");

  expect((await acme.jobs.explain(id)).hint).toBe("Ask the operators of the installation.");
  expect((await kit.mill.jobs.explain(id)).hint).toBe("To resume: millrace resume --lane general");
});

function untilOf(
  kit: Pick<RuntimeTest, "settled">,
): (condition: () => Promise<boolean>) => Promise<void> {
  return async (condition) => {
    await kit.settled();
    assert.ok(await condition(), "the workers did not do what the scene needs");
  };
}
