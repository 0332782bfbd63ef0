/** `millrace migrate`: brings the tables of a store up to date. */
import { EXIT } from "../exit-codes.ts";
import type { ExitCode } from "../exit-codes.ts";
import { openStore } from "../open-store.ts";
import type { Terminal } from "../terminal.ts";

/** Opening is migrating, so there is nothing more to do. */
export async function migrate(
  options: { readonly db: string },
  terminal: Terminal,
): Promise<ExitCode> {
  const store = await openStore(options.db);
  await store.close();
  terminal.out(`${options.db} is up to date.\n`);
  return EXIT.success;
}
