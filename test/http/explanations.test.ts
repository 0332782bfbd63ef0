/** Each reason to wait, produced for real, reads over HTTP as in the library. */
import assert from "node:assert/strict";
import { expect, test } from "vitest";
import { EXPLANATION } from "../../src/http/schemas/explanation.ts";
import { openTest } from "../runtime/support.ts";
import { preset, SCENES } from "../support/explain-scenes.ts";
import { jsonOf, openServer } from "../support/http/http-server.ts";

test.each(Object.entries(SCENES))("%s reads over HTTP as in the library", async (reason, scene) => {
  await using kit = await openTest({ preset });
  const server = await openServer({ mill: kit.mill });
  const until = async (condition: () => Promise<boolean>): Promise<void> => {
    await kit.settled();
    assert.ok(await condition(), "the workers did not do what the scene needs");
  };
  const { id, end } = await scene({ ...kit, until });
  await kit.settled();

  const answer = await jsonOf(await server.ask(`/api/v1/jobs/${id}/explain`));

  expect(answer).toMatchObject({ reason });
  expect(answer).toEqual(JSON.parse(JSON.stringify(await kit.mill.jobs.explain(id))));
  expect(EXPLANATION.safeParse(answer).error).toBeUndefined();
  end?.();
  await kit.settled();
});
