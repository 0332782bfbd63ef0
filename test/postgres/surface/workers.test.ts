/** Workers in other languages; `scripts/show/sql-workers.ts` runs the long form. */
import { expect, test } from "vitest";
import { missingProgram, raceWorkers } from "../../../scripts/show/lib/sql/race.ts";

test("bash, Python and TypeScript share a queue, and no task runs twice", async (context) => {
  const missing = missingProgram();
  if (missing !== null) context.skip(`there is no ${missing}`);
  const race = await raceWorkers({ tasks: 120 });
  expect(race).toMatchObject({ facts: 120, completed: 120, twice: 0 });
  expect(race.byWorker).toMatchObject({ bash: expect.any(Number), python: expect.any(Number) });
});
