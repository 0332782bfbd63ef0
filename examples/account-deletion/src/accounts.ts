/** An account with recordings, as the application would have made it. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Client } from "pg";
import { value } from "./queries.ts";

export interface NewAccount {
  readonly name: string;
  readonly email: string;
  readonly phone: string;
  /** The folder of the objects, and the recordings that are uploaded. */
  readonly folder: string;
  readonly recordings: readonly string[];
}

const BUCKET = "recordings";

/** Adds an account with a profile, a cue, upload intents and completed uploads. */
export async function addAccount(client: Client, given: NewAccount): Promise<number> {
  const { name, email, phone, folder, recordings } = given;
  const account = await value(
    client,
    `INSERT INTO accounts.account (display_name, email, phone) VALUES ($1, $2, $3)
     RETURNING account_id::integer`,
    name,
    email,
    phone,
  );
  const profile = await value(
    client,
    "INSERT INTO learning.profile (account_id) VALUES ($1) RETURNING profile_id",
    account,
  );
  mkdirSync(join(folder, BUCKET), { recursive: true });
  for (const key of recordings) {
    const cue = await value(
      client,
      "INSERT INTO learning.cue (text) VALUES ($1) RETURNING cue_id",
      `Say ${key}`,
    );
    const intent = await value(
      client,
      `INSERT INTO files.upload_intent (account_id, bucket, object_key) VALUES ($1, $2, $3)
       RETURNING upload_intent_id`,
      account,
      BUCKET,
      key,
    );
    writeFileSync(join(folder, BUCKET, key), `the sound of ${key}`);
    await value(
      client,
      "SELECT learning.complete_recording_upload($1, $2, $3)",
      intent,
      profile,
      cue,
    );
  }
  return account;
}
