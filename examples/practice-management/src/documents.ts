/** Documents of the firm, and the steps of its orchestrations. */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { NonRetryableError } from "millrace";
import { rowsOf } from "./database.ts";
import type { FirmPayload } from "./payload-validator.ts";
import type { Practice } from "./practice.ts";

export type DocumentRef = FirmPayload & { readonly document_id: number };
export type StepRef = FirmPayload & { readonly execution_id: number; readonly step: string };

const LABELS: readonly (readonly [label: string, words: RegExp])[] = [
  ["invoice", /\binvoice\b|\bamount due\b/i],
  ["contract", /\bagreement\b|\bparties\b/i],
];

export function scanDocument(practice: Practice, ref: DocumentRef): { sha256: string } {
  const sha256 = createHash("sha256").update(contentOf(practice, ref)).digest("hex");
  practice.db.prepare("UPDATE document SET sha256 = ? WHERE id = ?").run(sha256, ref.document_id);
  return { sha256 };
}

export function classifyDocument(practice: Practice, ref: DocumentRef): { label: string } {
  const content = contentOf(practice, ref);
  const label = LABELS.find(([, words]) => words.test(content))?.[0] ?? "other";
  practice.db.prepare("UPDATE document SET label = ? WHERE id = ?").run(label, ref.document_id);
  return { label };
}

/** The content stays in its file: payloads and results have its number and its hash. */
function contentOf({ db, folder }: Practice, ref: DocumentRef): string {
  const { tenant_id: firm, document_id: id } = ref;
  const select = "SELECT file FROM document WHERE firm_id = ? AND id = ?";
  const [found] = rowsOf<{ file: string }>(db, select, firm, id);
  if (found === undefined) throw new NonRetryableError(`there is no document ${id}`);
  return readFileSync(join(folder, String(firm), "documents", basename(found.file)), "utf8");
}

/** Counts the run of a step; what a step does is up to the firm. */
export function executeStep({ db }: Practice, ref: StepRef): { step: string } {
  db.prepare(
    `INSERT INTO execution_step VALUES (?, ?, ?, 1)
     ON CONFLICT DO UPDATE SET runs = runs + 1`,
  ).run(ref.tenant_id, ref.execution_id, ref.step);
  return { step: ref.step };
}
