/** The three ways in which a deletion goes, and what the facts add up to at the end of each. */
import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { MAX_ATTEMPTS, type World } from "./world.ts";

export interface Arrangement {
  readonly name: string;
  /** Called before the deletions are requested. */
  readonly arrange: (world: World) => unknown;
  readonly ends: EndFacts;
}

/** What is true of an account whose deletion has ended. */
interface EndFacts {
  /** Final words. */
  readonly succeeded: number;
  readonly failed: number;
  readonly flags: readonly string[];
  /** The numbers of failed attempts that files have. */
  readonly fileFailures: readonly number[];
  readonly anonymizationFailures: number;
}

const SUCCESS: EndFacts = {
  succeeded: 1,
  failed: 0,
  flags: ["anonymized", "deleted"],
  fileFailures: [0],
  anonymizationFailures: 0,
};
const STUCK: EndFacts = { ...SUCCESS, succeeded: 0, failed: 1, flags: ["deleted"] };

export const HAPPY: Arrangement = { name: "happy path", arrange() {}, ends: SUCCESS };

export const FILES_STUCK: Arrangement = {
  name: "files stuck",
  arrange: ({ folder }) => rmSync(join(folder, "recordings"), { recursive: true }),
  ends: { ...STUCK, fileFailures: [MAX_ATTEMPTS] },
};

export const ANONYMIZATION_STUCK: Arrangement = {
  name: "anonymization stuck",
  arrange: ({ client }) =>
    client.query(`CREATE OR REPLACE FUNCTION accounts.anonymize_account(_account_id bigint)
      RETURNS void LANGUAGE plpgsql AS $$ BEGIN
        UPDATE accounts.account SET email = NULL;
        RAISE EXCEPTION 'the ledger is locked';
      END $$`),
  ends: { ...STUCK, anonymizationFailures: MAX_ATTEMPTS },
};

export const ARRANGEMENTS = [HAPPY, FILES_STUCK, ANONYMIZATION_STUCK] as const;

/** What is wrong when all deletions have ended. */
export async function violationsOf(
  world: World,
  accounts: readonly number[],
  { ends }: Arrangement,
): Promise<string[]> {
  const wrong = await world.disagreements();
  for (const account of accounts) {
    const found = await world.value(END_FACTS, account);
    if (isDeepStrictEqual(found, ends)) continue;
    wrong.push(`account ${account}: ${JSON.stringify(found)} instead of ${JSON.stringify(ends)}`);
  }
  const open = await world.openTasks();
  if (open.length > 0) wrong.push(`${open.length} tasks are open`);
  const isBucketThere = existsSync(join(world.folder, "recordings"));
  const left = isBucketThere ? world.objects() : [];
  if (left.length > 0) wrong.push(`objects are left: ${left.join(", ")}`);
  if (world.mail.received.size !== accounts.length) wrong.push("not one mail for each account");
  if (world.sms.sent.length !== accounts.length) wrong.push("not one message for each account");
  return wrong;
}

const END_FACTS = `SELECT jsonb_build_object(
  'succeeded', (SELECT count(*) FROM accounts.account_deletion_task_succeeded
                JOIN accounts.account_deletion_task USING (account_deletion_task_id)
                WHERE account_id = $1),
  'failed', (SELECT count(*) FROM accounts.account_deletion_task_failed
             JOIN accounts.account_deletion_task USING (account_deletion_task_id)
             WHERE account_id = $1),
  'flags', (SELECT jsonb_agg(flag ORDER BY flag) FROM accounts.account_flag
            WHERE account_id = $1),
  'fileFailures', (SELECT jsonb_agg(DISTINCT files.count_file_deletion_failures(
                       file_deletion_task_id))
                   FROM files.file LEFT JOIN files.file_deletion_task USING (file_id)
                   WHERE account_id = $1),
  'anonymizationFailures', (SELECT count(*) FROM accounts.account_anonymization_task_failed
                            JOIN accounts.account_anonymization_task
                                USING (account_anonymization_task_id)
                            WHERE account_id = $1))`;
