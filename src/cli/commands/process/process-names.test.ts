import { describe, expect, test } from "vitest";
import { CommandFailure } from "../../terminal/exit-codes.ts";
import { templates } from "../../../store/postgres/create.ts";
import { processNames, type ProcessWords } from "./process-names.ts";

const usual: ProcessWords = {
  name: "comms.send_email",
  channel: "email",
  root: "subject_id:bigint",
  maxAttempts: "5",
  schema: "millrace",
};
const read = (words: Partial<ProcessWords>) => processNames({ ...usual, ...words });

/** The exit code with which words are refused; null: they are not. */
function refusalOf(words: Partial<ProcessWords>): unknown {
  try {
    read(words);
    return null;
  } catch (error) {
    return error instanceof CommandFailure ? error.exitCode : error;
  }
}

describe("the names of a process", () => {
  test("are read from the words of the command line", () => {
    const names = read({
      root: "message_id:uuid",
      references: "mail.message.id",
      maxAttempts: "3",
    });

    expect(names).toEqual({
      schema: "comms",
      process: "send_email",
      root: { name: "message_id", type: "uuid" },
      referenced: { table: "mail.message", column: "id" },
      channel: "email",
      maxAttempts: 3,
      installation: "millrace",
    });
  });

  test("take the column of the root for the referenced column, and bigint for its type", () => {
    const { root, referenced } = read({ root: "message_id", references: "mail.message" });

    expect(root).toEqual({ name: "message_id", type: "bigint" });
    expect(referenced).toEqual({ table: "mail.message", column: "message_id" });
  });

  test("may have a reserved word as a part of longer names", () => {
    expect(read({ name: "crm.user" }).process).toBe("user");
  });

  test("have no root that is a column or a variable of the template", () => {
    const variables = templates.process.matchAll(/\b_(?!subject_id|owner)([a-z][a-z_]*)\b/g);
    const columns = templates.process.matchAll(
      /^ {4}(?!subject_id)([a-z][a-z_]*) (?:bigserial|bigint|text|uuid|timestamptz)\b/gm,
    );
    const used = [...variables, ...columns].map(([, name = ""]) =>
      name.replace("foo", "send_email"),
    );
    const taken = new Set([...used, "validation_failure_message"]);

    expect(taken.size).toBeGreaterThan(15);
    for (const root of taken) expect([root, refusalOf({ root })]).toEqual([root, 2]);
    expect(read({ root: "attempt" }).root.name).toBe("attempt");
    expect(() => read({ root: "task_id:bigint" })).toThrow(
      /task_id is used by the process already.*attempt_id, .*send_email_task_id/,
    );
  });

  test.each([
    ["no schema", { name: "send_email" }],
    ["a third part", { name: "a.b.c" }],
    ["nothing", { name: "" }],
    ["an empty part", { name: "comms." }],
    ["capitals", { name: "Comms.send_email" }],
    ["a quote", { name: 'comms.send"email' }],
    ["an apostrophe", { name: "comms.o'email" }],
    ["a statement", { name: "comms.x;DROP TABLE a" }],
    ["a line break", { name: "comms.send\nemail" }],
    ["a line break at the end", { name: "comms.send_email\n" }],
    ["a comment", { name: "comms.x--" }],
    ["an umlaut", { name: "comms.grüße" }],
    ["a leading digit", { name: "comms.2nd" }],
    ["a leading underscore", { name: "comms._x" }],
    ["41 letters", { name: `comms.${"a".repeat(41)}` }],
    ["a schema of 64 letters", { name: `${"a".repeat(64)}.x` }],
    ["a reserved schema", { name: "user.x" }],
    ["the schema of the installation", { name: "millrace.x" }],
    ["a system schema", { name: "pg_catalog.x" }],
    ["another system schema", { name: "information_schema.x" }],
    ["a root with a statement", { root: "id bigint, x" }],
    ["a root of another type", { root: "id:jsonb" }],
    ["a root with two types", { root: "id:text:text" }],
    ["a root that is reserved", { root: "order" }],
    ["a root that is there already", { root: "created_at" }],
    ["the key as root", { root: "send_email_task_id" }],
    ["a root of 63 letters", { root: "a".repeat(63) }],
    ["an unqualified table", { references: "message" }],
    ["a table with a statement", { references: "mail.message;--" }],
    ["a reserved table", { references: "mail.table" }],
    ["a column with a bracket", { references: "mail.message.id)" }],
    ["a channel with an apostrophe", { channel: "e'mail" }],
    ["a channel with a space", { channel: "e mail" }],
    ["no channel", { channel: "" }],
    ["no attempts", { maxAttempts: "0" }],
    ["too many attempts", { maxAttempts: "101" }],
    ["attempts with a fraction", { maxAttempts: "1.5" }],
    ["an installation with a quote", { schema: 'mill"race' }],
    ["an installation of 51 letters", { schema: "a".repeat(51) }],
  ])("are refused with %s", (_, words) => {
    expect(() => read(words)).toThrow(expect.objectContaining({ exitCode: 2 }));
  });
});
