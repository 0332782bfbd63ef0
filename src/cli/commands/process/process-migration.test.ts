import { describe, expect, test } from "vitest";
import { processMigration } from "./process-migration.ts";
import type { ProcessNames } from "./process-names.ts";

const names: ProcessNames = {
  schema: "comms",
  process: "send_email",
  root: { name: "message_id", type: "uuid" },
  referenced: null,
  channel: "email",
  maxAttempts: 3,
  installation: "jobs",
};

describe("the migration of a process", () => {
  test("has the names in place of those of the template", () => {
    const template = "domain.has_foo_x(_subject_id bigint) millrace.f('the_type') RETURN 5;";

    expect(processMigration(template, names)).toBe(
      "comms.has_send_email_x(_message_id uuid) jobs.f('email') RETURN 3;",
    );
  });

  test("replaces no name that was put in", () => {
    const odd = { ...names, schema: "foo", process: "domain", root: { name: "foo", type: "text" } };

    expect(processMigration("domain.foo(subject_id)", odd)).toBe("foo.domain(foo)");
  });

  test("keeps the word of the program, which is no schema", () => {
    expect(processMigration("Run millrace migrate.", names)).toBe("Run millrace migrate.");
  });

  test("has the blocks that apply, and what stands for those that do not", () => {
    const template = [
      "    -- when: channel\nA\n    -- end\n",
      "-- when: db_function\nB\n-- end\n",
      "-- when: references\nC\n-- otherwise\nD\n-- end\n",
    ].join("");

    expect(processMigration(template, names)).toBe("A\nD\n");
    expect(
      processMigration(template, {
        ...names,
        channel: "db_function",
        referenced: { table: "a.b", column: "c" },
      }),
    ).toBe("B\nC\n");
  });
});
