/** The facts about the deletion of an account. */
import type { Client } from "pg";
import { column, value } from "./queries.ts";

export interface DeletionReport {
  readonly flags: readonly string[];
  readonly files: readonly { readonly file_id: number; readonly deleted: boolean }[];
  /** `none`, `running`, `succeeded` or `failed`. */
  readonly outcome: string;
  /** Why it failed. */
  readonly error: string | null;
}

export async function deletionReport(client: Client, account: number): Promise<DeletionReport> {
  const flags = await column(
    client,
    "SELECT flag FROM accounts.account_flag WHERE account_id = $1 ORDER BY created_at, flag DESC",
    account,
  );
  const files = await column(
    client,
    `SELECT jsonb_build_object('file_id', file.file_id,
                               'deleted', coalesce(known.metadata @> '{"deleted": true}', false))
     FROM files.file LEFT JOIN files.file_metadata AS known USING (file_id)
     WHERE account_id = $1 ORDER BY file_id`,
    account,
  );
  const end = await value(
    client,
    `SELECT jsonb_build_object(
         'outcome', CASE WHEN succeeded.created_at IS NOT NULL THEN 'succeeded'
                         WHEN failed.created_at IS NOT NULL THEN 'failed' ELSE 'running' END,
         'error', failed.error_message)
     FROM accounts.account_deletion_task AS task
     LEFT JOIN accounts.account_deletion_task_succeeded AS succeeded
         USING (account_deletion_task_id)
     LEFT JOIN accounts.account_deletion_task_failed AS failed USING (account_deletion_task_id)
     WHERE task.account_id = $1`,
    account,
  );
  return { flags, files, outcome: end?.outcome ?? "none", error: end?.error ?? null };
}
