/** Small helpers to ask the database. */
import { Client } from "pg";

/** An open connection; the caller ends it. */
export async function connect(url: string): Promise<Client> {
  const client = new Client({ connectionString: url });
  await client.connect();
  return client;
}

/** The first column of all rows. */
export async function column(
  client: Client,
  text: string,
  ...values: readonly unknown[]
): Promise<any[]> {
  const { rows } = await client.query({ text, values: [...values], rowMode: "array" });
  return rows.map(([first]: unknown[]) => first);
}

/** The first column of the first row. */
export async function value(
  client: Client,
  text: string,
  ...values: readonly unknown[]
): Promise<any> {
  return (await column(client, text, ...values))[0];
}
