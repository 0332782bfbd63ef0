/** One process of several jobs, with everything that origin 004 lists as an enhancement. */
import { defineJob, schedule, typed } from "millrace";
import { expect, test } from "vitest";
import { openTest } from "../support.ts";

/** Just before the slot of the schedule. */
const START = Date.UTC(2026, 0, 5, 1, 59, 59);
const PAGES = ["a", "b", "c"];

test("a scheduled job starts limited jobs of a lane, and one after them (004-42)", async () => {
  await using kit = await openTest({ startAt: START });
  const fetchPage = defineJob({
    type: "fetch_page",
    payload: typed<{ page: string }>(),
    lane: "bulk",
    limits: { rate: { limit: 1, per: "10s" } },
  }).run(({ page }) => page.toUpperCase());
  const report = defineJob({ type: "report", payload: typed<{ of: string[] }>() }).run(
    async ({ of }): Promise<unknown[]> => {
      const pages = await Promise.all(of.map((id) => kit.mill.jobs.get(id)));
      return pages.map(({ result }) => result);
    },
  );
  const collect = defineJob({
    type: "collect",
    payload: typed<{ pages: string[] }>(),
    payloadVersion: "2",
    upcast: { "1": ({ list }) => ({ pages: list }) },
  }).run(async ({ pages }) => {
    const fetched = await kit.mill.enqueueMany(pages.map((page) => fetchPage.of({ page })));
    const of = fetched.map(({ id }) => id);
    await kit.mill.enqueue(report, { of }, { after: fetched });
  });
  const older: any = { list: PAGES };
  const nightly = schedule("nightly", { cron: "0 2 * * *" }, collect, older, {
    payloadVersion: "1",
  });
  kit.mill.work({ jobs: [collect, fetchPage, report], schedules: [nightly], lanes: LANES });

  await kit.advance("1m");

  const fetched = await kit.mill.jobs.list({ type: "fetch_page", lane: "bulk" });
  const starts = fetched.jobs.map(({ startedAt }) => Number(startedAt)).toSorted((a, b) => a - b);
  expect(starts.map((start) => Math.floor((start - starts[0]!) / 1_000))).toEqual([0, 10, 20]);
  const { jobs } = await kit.mill.jobs.list({ type: "report" });
  expect(jobs).toMatchObject([{ state: "completed", result: ["A", "B", "C"] }]);
});

const LANES = { fast: 1, general: 2, bulk: 3 } as const;
