import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../../test/e2e/children.ts";
import { makeSqliteStore } from "./create.ts";
import { makeThreadStore } from "./thread-store.ts";

test("the store of the heartbeat thread does not create a file that was deleted", async () => {
  using folder = temporaryFolder();
  const path = join(folder.path, "jobs.db");

  await expect(makeThreadStore({ path }).open()).rejects.toMatchObject({ code: "STORE_FAILED" });

  expect(existsSync(path)).toBe(false);
});

test("the heartbeat thread opens a relative path after a change of the working directory", () => {
  const { thread } = makeSqliteStore({ path: "./jobs.db" });

  expect(thread?.options).toEqual({ path: join(process.cwd(), "jobs.db") });
});
