/** Each reason to wait is produced for real; after the cure that the hint names, the job runs. */
import assert from "node:assert/strict";
import { expect, test } from "vitest";
import { preset, SCENES } from "../../support/explain-scenes.ts";
import { openTest } from "../support.ts";

test.each(Object.entries(SCENES))("%s is explained truly, and cured by its hint", async (...of) => {
  const [reason, scene] = of;
  await using kit = await openTest({ preset });
  const until = async (condition: () => Promise<boolean>): Promise<void> => {
    await kit.settled();
    assert.ok(await condition(), "the workers did not do what the scene needs");
  };
  const { id, sentence, details, hint, cure } = await scene({ ...kit, until });
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
