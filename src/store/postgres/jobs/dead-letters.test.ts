import { expect, test } from "vitest";
import { deadLetterCodec } from "../../shared/codes.ts";
import { annotate } from "./dead-letters.ts";

const NOTE = { act: "noted", by: "ada", notes: "asked the bank" } as const;
const id = "01JCR5M4X2E8T9V6B3N7K0QWAZ";

/** The row that the read behind the transaction finds: the run has failed meanwhile. */
const LETTER = {
  id,
  type: 1,
  tenant: 1,
  status: deadLetterCodec.code.pending_review,
  error: '{"class":"retryable","name":"Error","message":"no"}',
  attempts: 1,
  died_at: 1,
  reviewed_by: null,
  reviewed_at: null,
  notes: null,
  successor: null,
  spec: "{}",
  cause: "0123456789abcdef",
  assigned_to: null,
  history: "[]",
  reviews: "[]",
};

test.each([
  ["is written between the note and the answer is unknown, and not closed", [], 0, "unknown"],
  ["was there and took the note is reviewed", [LETTER], 1, "reviewed"],
  ["was there and took no note is closed", [LETTER], 0, "closed"],
] as const)("a letter that %s", async (_, before, changed, status) => {
  const transaction = { all: async () => before, run: async () => changed };
  const session: any = {
    transaction: async (work: (sql: object) => Promise<unknown>) => work(transaction),
    read: { get: async () => LETTER },
    names: { learn: async () => {}, text: () => "default" },
  };
  // The audit entry of the note is written by the same transaction.
  Object.assign(transaction, { get: async () => undefined });

  expect(await annotate(session, id, NOTE)).toMatchObject({ status });
});
