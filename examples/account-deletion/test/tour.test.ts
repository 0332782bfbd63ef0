import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";

const MAIN = join(import.meta.dirname, "..", "src", "main.ts");

test("the tour deletes an account, shows one that is stuck, and ends by itself", async () => {
  const args = ["--conditions=source", MAIN];
  const { stdout, stderr } = await promisify(execFile)(process.execPath, args);

  expect(stdout).toMatch(/refused +account 99 does not exist/);
  expect(stdout).toMatch(/Ada +succeeded\nflags +deleted, anonymized\nfiles +2 of 2 deleted/);
  expect(stdout).toMatch(/account +\{"email":null,"phone":null,"account_id":1,"display_name":null/);
  expect(stdout).toMatch(/Bob +failed: the deletion of file 3 is stuck/);
  expect(stdout).toMatch(/e-mail +2 over SMTP\nsms +2 over HTTP/);
  expect(stderr).toMatch(/accounts\.account_deletion_supervisor answered the status failed/);
});
