/** The form that the page makes from the schema of a type, through to the stored payload. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { Stage } from "./support/pages.ts";

let stage: Stage;

beforeAll(async () => {
  stage = await Stage.open();
});

afterAll(async () => {
  await stage[Symbol.asyncDispose]();
});

test("the fields of a schema are filled in, checked and stored", async (context) => {
  const { mill } = stage.scene;
  await using watched = await stage.page(context);
  const { page } = watched;
  await watched.show("lanes/type/scene.form");
  const form = page.locator("form.run-form");
  expect(await form.getByLabel("copies").inputValue()).toBe("2");

  await form.getByLabel("to").fill("ada");
  await form.getByLabel("copies").fill("many");
  await form.getByLabel("size").selectOption({ label: "large" });
  await form.getByLabel("lines").fill("one\ntwo");
  await form.getByLabel("city").fill("Bergen");
  await form.getByRole("button", { name: "Run a job" }).click();
  await form.locator("small.bad").first().waitFor();
  expect((await mill.jobs.list({ type: "scene.form" })).jobs).toEqual([]);
  await form.getByLabel("copies").fill("3");
  await form.getByRole("button", { name: "Run a job" }).click();
  await form.getByText("The job was enqueued").waitFor();

  const { jobs } = await mill.jobs.list({ type: "scene.form" });
  expect(jobs.map(({ payload }) => payload)).toEqual([
    { to: "ada", copies: 3, size: "large", lines: ["one", "two"], address: { city: "Bergen" } },
  ]);
  await watched.answered("enqueueJob");
  await form.getByRole("link", { name: jobs[0]?.id ?? "" }).click();
  await page.getByRole("heading", { level: 1, name: /scene\.form/ }).waitFor();
});

test("what was typed in the form goes on as JSON", async (context) => {
  await using watched = await stage.page(context);
  const { page } = watched;
  await watched.show("lanes/type/scene.form");
  const form = page.locator("form.run-form");

  await form.getByLabel("to").fill("grace");
  await page.getByRole("button", { name: "JSON", exact: true }).click();

  expect(JSON.parse(await form.getByLabel("Payload").inputValue())).toMatchObject({
    to: "grace",
    copies: 2,
  });
});
