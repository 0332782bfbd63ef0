/** `millrace intake`, and what a producer and the doctor say of a closed intake. */
import { DatabaseSync } from "node:sqlite";
import { describe, expect, test } from "vitest";
import { defineJob } from "millrace";
import { TestStore } from "../command-line.ts";

const email = defineJob({ type: "email" });

describe("millrace intake", () => {
  test("closes, lists and opens an intake (004-52)", async () => {
    await using store = new TestStore();
    await (await store.mill).enqueue(email);
    const target = ["--type", "email"];

    const closed = await store.type(
      "intake",
      "close",
      ...target,
      "--reason",
      "a move",
      "--by",
      "ada",
    );
    const refused = await store.type("enqueue", "email");
    const listed = await store.type("intake", "list");
    const opened = await store.type("intake", "open", ...target);
    const again = await store.type("intake", "open", ...target);
    const accepted = await store.type("enqueue", "email");

    expect(closed).toMatchObject({ code: 0, out: "Type email accepts no new jobs.\n" });
    expect(refused.code).toBe(1);
    expect(refused.err).toContain(
      'INTAKE_CLOSED: a job of type "email" is refused: ' +
        'the intake of the type "email" is closed by ada: a move',
    );
    expect(refused.err).toContain("ask an operator to open the intake");
    expect(listed.out).toMatch(/^KIND +NAME +SINCE +BY +REASON\ntype +email .* ada +a move\n$/);
    expect(opened.out).toBe("Type email accepts new jobs again.\n");
    expect(again).toMatchObject({
      out: "Type email was not closed.\n",
      err: "All intakes are open.\n",
    });
    expect(accepted.code).toBe(0);
  });

  test("says what it did as JSON, and wants one target", async () => {
    await using store = new TestStore();
    await store.mill;

    const closed = await store.json("intake", "close", "--all", "--reason", "r", "--by", "ada");
    const listed = await store.json("intake", "list");
    const opened = await store.json("intake", "open", "--all");
    const none = await store.type("intake", "close");
    const two = await store.type("intake", "close", "--all", "--lane", "fast");

    expect(closed).toEqual({ installation: true, closed: true, reason: "r", closedBy: "ada" });
    expect(listed).toMatchObject([{ kind: "installation", name: "all", closedBy: "ada" }]);
    expect(opened).toEqual({ installation: true, closed: false, wasClosed: true });
    expect([none.code, two.code]).toEqual([2, 2]);
  });

  test("warns of a type that no job and no worker has", async () => {
    await using store = new TestStore();
    await (await store.mill).enqueue(email);

    const { code, err } = await store.type("intake", "close", "--type", "emial");

    expect(code).toBe(0);
    expect(err).toContain("email");
  });
});

describe("millrace doctor", () => {
  test("names an intake that has been closed for over a day, and asks for no fix", async () => {
    await using store = new TestStore();
    const mill = await store.mill;
    await mill.intake.close({ lane: "bulk" }, "a move", { actor: "ada" });

    const fresh = await intakesOf(store);
    const database = new DatabaseSync(store.file);
    database.exec("UPDATE millrace_intake SET closed_at = closed_at - 2 * 86400000");
    database.close();
    const old = await intakesOf(store);

    expect(fresh).toEqual([
      { name: "intakes", found: "1 closed, none for longer than a day", fix: null },
    ]);
    expect(old).toMatchObject([{ fix: null }]);
    expect(old[0].found).toMatch(/^the lane bulk has refused new jobs for 2 d.*, closed by ada/);
    expect(old[0].found).toMatch(/\(a move\); to accept them: millrace intake open --lane bulk$/);
  });
});

async function intakesOf(store: TestStore): Promise<any[]> {
  const checks: any[] = await store.json("doctor");
  return checks.filter(({ name }) => name === "intakes");
}
