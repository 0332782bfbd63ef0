/** The rights of the worker of Millrace. The other tests show that they are enough. */
import { expect, onTestFinished, test } from "vitest";
import { urlAs } from "../src/install.ts";
import { connect } from "../src/queries.ts";
import { useServer } from "./server.ts";

const createWorld = useServer();

test("the worker of Millrace uses no table, and calls no function that is not for it", async () => {
  await using world = await createWorld();
  const account = await world.addAccount(["one.wav"]);
  const engine = await connect(urlAs("engine_service_user", world.url));
  onTestFinished(() => engine.end());

  for (const statement of [
    "SELECT * FROM millrace.job",
    "SELECT * FROM accounts.account",
    "UPDATE accounts.account SET email = NULL",
    "DELETE FROM files.file",
    `SELECT accounts.anonymize_account(${account})`,
    "SELECT files.mark_file_deleted(1)",
    `SELECT api.request_account_deletion(${account})`,
    "SELECT millrace.register_function('accounts.account_deletion_supervisor(jsonb)')",
    "SET ROLE millrace_owner",
    "SET ROLE millrace_worker",
  ]) {
    const refused = engine.query(statement).catch(({ code }) => code);
    expect([statement, await refused]).toEqual([statement, "42501"]);
  }
});
