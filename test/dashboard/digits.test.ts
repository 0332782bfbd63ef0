/** Large numbers: exact where the stored text is shown, and marked where a value was read. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { defineJob, typed } from "../../src/index.ts";
import { Stage } from "./support/pages.ts";

let stage: Stage;

beforeAll(async () => {
  stage = await Stage.open();
});

afterAll(async () => {
  await stage[Symbol.asyncDispose]();
});

const EXACT = "9007199254740993";
const MARKED = "≈ 9007199254740992";

const digits = defineJob({ type: "digits", payload: typed<{ account: number }>() }).run(
  ({ account }, ctx) => ctx.log.info("counted", { account }),
);

test("a large number is exact or marked on every tab of a job", async (context) => {
  const { mill } = stage.scene;
  const { rawJSON }: any = JSON;
  const job = await mill.enqueue(digits, { account: rawJSON(EXACT) });
  await using worker = mill.work({ jobs: [digits], signals: false });
  await worker.ready;
  await mill.wait(job);
  await using watched = await stage.page(context);
  const { page } = watched;
  await watched.show(`jobs/${job.id}`);
  const panel = page.getByRole("tabpanel");

  await panel.getByText(EXACT).waitFor();
  expect(await page.getByRole("heading", { level: 1 }).textContent()).toContain(MARKED);
  for (const tab of ["Logs", "Raw"]) {
    await page.getByRole("tab", { name: tab }).click();
    await panel.getByText(MARKED).first().waitFor();
    const text: string = await page.evaluate("document.body.textContent");
    expect(text.replaceAll(MARKED, "")).not.toContain("9007199254740992");
  }
});
