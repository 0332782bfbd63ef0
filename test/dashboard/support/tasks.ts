/**
 * Six tasks of an operator, from the overview on, with the page alone. The tests perform them and
 * look at the store; `scripts/show/tasks.ts` counts clicks, keys and seconds.
 */
import type { Page } from "playwright-core";
import { defineJob, NonRetryableError, typed, type Millrace } from "../../../src/index.ts";
import { SLOWEST } from "./night.ts";
import type { Scene } from "./scene.ts";

export interface Task {
  readonly name: string;
  /** Brings the installation into the state in which a person has the task. */
  readonly prepare: (scene: Scene) => Promise<unknown>;
  /** What the person presses and types. Ends when the page shows that the task is done. */
  readonly perform: (page: Page, scene: Scene) => Promise<void>;
}

const CAUSE = "task.cause";
const LETTER = "task.letter";
const RUNAWAY = "task.runaway";

const nothing = async (): Promise<void> => {};

export const findWhyItWaits: Task = {
  name: "Find why a job does not run, and let it run",
  prepare: nothing,
  async perform(page) {
    await page.getByRole("link", { name: /Held/ }).click();
    await page.getByRole("row", { name: /scene\.calling/ }).click();
    await page.getByRole("region", { name: "Why is it not running?" }).waitFor();
    await page.getByRole("link", { name: "Show the breaker" }).click();
    await page.getByRole("button", { name: /^Reset/ }).click();
    await confirm(page, "the bank is up again");
  },
};

export const retryOneCause: Task = {
  name: "Retry all failures of one cause",
  prepare: ({ mill }) => failJobs(mill, CAUSE, ["ada", "bob", "eve"]),
  async perform(page) {
    await page.getByRole("link", { name: /^Failures/ }).click();
    await page.getByRole("link", { name: /the account is closed for task\.cause/ }).click();
    await page.getByRole("button", { name: "Retry 3…" }).click();
    await confirm(page, "the account is open again");
    await page.getByText("3 new jobs enqueued").waitFor();
  },
};

export const seeOneAction: Task = {
  name: "See what happened to one action of a customer",
  prepare: nothing,
  async perform(page, { mill, pipelineId }) {
    const { correlationId } = await mill.jobs.get(pipelineId);
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox").waitFor();
    await page.keyboard.insertText(correlationId);
    await page.getByRole("option").first().waitFor();
    await page.keyboard.press("Enter");
    await page.getByRole("row", { name: /scene\.pipeline/ }).waitFor();
  },
};

export const stopARunaway: Task = {
  name: "Stop a runaway type",
  async prepare({ mill }) {
    const worker = mill.work({
      jobs: [defineJob({ type: RUNAWAY, payload: typed<{ n: number }>() }).run(nothing)],
      signals: false,
    });
    await worker.ready;
  },
  async perform(page) {
    await page.getByRole("link", { name: /^Lanes and types/ }).click();
    await page.getByRole("button", { name: `Pause type ${RUNAWAY}` }).click();
    await confirm(page, "too many");
    await page.getByText("Paused by ada").waitFor();
  },
};

export const correctALetter: Task = {
  name: "Edit and reprocess a dead letter",
  prepare: ({ mill }) => failJobs(mill, LETTER, ["grase"]),
  async perform(page) {
    await page.getByRole("link", { name: /^Dead letters/ }).click();
    await page.getByRole("button", { name: "Edit" }).click();
    const draft = page.getByRole("main").locator("textarea").first();
    await draft.fill((await draft.inputValue()).replace("grase", "grace"));
    await page.getByRole("button", { name: /^Reprocess with 1 change/ }).click();
    await page.getByRole("dialog").getByText(`"grace"`).waitFor();
    await confirm(page, "a typing error");
    await page.getByRole("link", { name: "Show it" }).click();
    await page.getByRole("heading", { level: 1, name: /task\.letter/ }).waitFor();
  },
};

export const findTheSlowest: Task = {
  name: "Find the slowest type of last night",
  prepare: nothing,
  async perform(page) {
    await page.getByRole("button", { name: "Last night" }).click();
    const types = page.getByRole("region", { name: /^Types of last night/ });
    await types.getByRole("button", { name: "p95 run" }).click();
    const first = types.locator("tbody tr").first();
    await first.getByRole("link", { name: SLOWEST }).click();
    await page.getByRole("heading", { level: 1, name: SLOWEST }).waitFor();
  },
};

export const TASKS: readonly Task[] = [
  findWhyItWaits,
  retryOneCause,
  seeOneAction,
  stopARunaway,
  correctALetter,
  findTheSlowest,
];

/** Jobs of this type that have failed, one for each customer. Their ids. */
export async function failJobs(
  mill: Millrace,
  type: string,
  customers: readonly string[],
): Promise<readonly string[]> {
  const failing = defineJob({ type, payload: typed<{ customer: string }>(), maxAttempts: 1 });
  const jobs = await mill.enqueueMany(customers.map((customer) => failing.of({ customer })));
  const handler = failing.run(() => {
    throw new NonRetryableError(`the account is closed for ${type}`);
  });
  await using worker = mill.work({ jobs: [handler], signals: false });
  await worker.ready;
  for (const job of jobs) await mill.wait(job);
  return jobs.map(({ id }) => id);
}

/** Types the reason into the dialog, which has the focus in it, and sends it. */
async function confirm(page: Page, reason: string): Promise<void> {
  const dialog = page.getByRole("dialog");
  await dialog.waitFor();
  await page.keyboard.type(reason);
  await page.keyboard.press("Enter");
  await dialog.waitFor({ state: "detached" });
}
