import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { AUDIT_NAMES } from "./names.ts";

test("docs/audit.md lists every name with what it says", () => {
  const page = readFileSync(new URL("../../../docs/audit.md", import.meta.url), "utf8");
  const [, names = ""] = page.split("## Names");
  const rows = [...names.matchAll(/^\| `(\w+)` +\| (.*?) +\|$/gm)];
  const listed = Object.fromEntries(rows.map(([, name, says]) => [name, says]));

  expect(listed).toEqual(AUDIT_NAMES);
});

test("names are snake case, by subject and participle", () => {
  expect(Object.keys(AUDIT_NAMES)).toContain("job_dlq_reprocess_requested");
  expect(Object.keys(AUDIT_NAMES)).toContain("job_dlq_reprocess_success");
  for (const name of Object.keys(AUDIT_NAMES)) expect(name).toMatch(/^[a-z]+(?:_[a-z]+)+$/);
});
