import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";

const MAIN = join(import.meta.dirname, "..", "src", "main.ts");

test("the tour shows a refusal, a review and its audit, and ends by itself", async () => {
  const folder = mkdtempSync(join(tmpdir(), "millrace-practice-tour-"));
  try {
    const args = ["--conditions=source", MAIN, folder];
    const { stdout, stderr } = await promisify(execFile)(process.execPath, args);

    expect(stderr).toBe("");
    expect(stdout).toMatch(/refused +Invalid payload: password/);
    expect(stdout).toMatch(/dlq +1 item: there is no connection 999, pending_review/);
    expect(stdout).toMatch(/reprocess +DLQ item reprocessed successfully: .+_retry_\d+\.\d{3}$/m);
    expect(stdout).toMatch(/new job +completed/);
    expect(stdout).toMatch(/audit +job_dlq_reprocess_requested by grace.+\n.+_success by grace/);
    expect(stdout).toMatch(/queue +\{"ingestion":5,/);
    expect(stdout).toMatch(/anonymous +status 401/);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
