import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { abandonCopy, copyStore, type CopyEvent } from "../../src/copy/copy.ts";
import { makeSqliteStore } from "../../src/store/sqlite/create.ts";
import { fillStates } from "../support/all-states.ts";
import { completed, newJob, workerInfo } from "../support/factories.ts";
import { startPostgres, type PostgresServer } from "../support/postgres.ts";
import { add, at, claimRequest, joinWorker, settleItem, stateOf } from "../support/steps.ts";
import { differences, Ends, PASSWORD } from "./ends.ts";

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres({ durable: false });
});
afterAll(() => server[Symbol.asyncDispose]());

/** Dies as soon as something new has taken effect. */
const mortal = {
  report: ({ kind }: CopyEvent): void => {
    if (kind !== "started") throw new Error("killed");
  },
};

describe("a copy that dies", () => {
  test("goes on where it was, after every single batch", async () => {
    await using ends = await Ends.open(server);
    await fillStates(ends.old, 2_500);
    const steps = new Set<string>();
    let deaths = 0;
    for (; !steps.has("compare"); deaths += 1) {
      await expect(ends.copy(() => mortal)).rejects.toThrow("killed");
      const state = await ends.with(({ target }) => target.readState());
      if (state.kind === "unfinished") steps.add(state.progress.step);
    }

    expect(differences(await ends.copy())).toEqual([]);
    expect(steps).toContain("block-writes");
    expect(deaths).toBeGreaterThan(steps.size);
  });

  test("leaves a target that no process can open, and that says so", async () => {
    await using ends = await Ends.open(server);
    await fillStates(ends.old, 100);
    await expect(ends.copy(() => mortal)).rejects.toThrow("killed");

    await expect(ends.moved()).rejects.toMatchObject({
      code: "STORE_INCOMPLETE",
      hint: expect.stringContaining("millrace copy again"),
    });
  });

  test("keeps out who had opened the target before", async () => {
    await using ends = await Ends.open(server);
    await fillStates(ends.old, 100);
    const early = await ends.moved();
    await expect(ends.copy(() => mortal)).rejects.toThrow("killed");

    await expect(early.enqueue([newJob()])).rejects.toMatchObject({ code: "STORE_INCOMPLETE" });
    await expect(early.register(workerInfo())).rejects.toMatchObject({ code: "STORE_INCOMPLETE" });
    expect(differences(await ends.copy())).toEqual([]);
    expect((await early.enqueue([newJob()])).map(({ status }) => status)).toEqual(["created"]);
  });

  test("can be given up: the file goes on, and the target is empty again", async () => {
    await using ends = await Ends.open(server);
    const { ids } = await fillStates(ends.old, 100);
    await expect(ends.copy(diesComparing)).rejects.toThrow("killed");
    await expect(add(ends.old, {})).rejects.toMatchObject({ code: "STORE_MOVED" });

    expect(await ends.type("--abandon")).toMatchObject({ code: 0 });

    const [id] = await add(ends.old, {});
    expect(await stateOf(ends.old, id)).toBe("queued");
    expect(await (await ends.moved()).get(at(ids.done, 0))).toBeNull();
    expect(differences(await ends.copy())).toEqual([]);
  });
});

function diesComparing(): { report: (event: CopyEvent) => void } {
  return {
    report: ({ kind }) => {
      if (kind === "comparing") throw new Error("killed");
    },
  };
}

describe("a file that has moved", () => {
  test("refuses those who had it open, and tells where it went", async () => {
    await using ends = await Ends.open(server);
    const { open } = await fillStates(ends.old, 100);
    const worker = await joinWorker(ends.old);
    await ends.copy();
    const moved = { code: "STORE_MOVED", message: expect.stringContaining(ends.schema) };

    await expect(ends.old.enqueue([newJob()])).rejects.toMatchObject(moved);
    await expect(ends.old.register(workerInfo())).rejects.toMatchObject(moved);
    await expect(ends.old.pause({ kind: "lane", name: "x" }, { reason: "y", by: null }))
      .rejects //
      .toMatchObject(moved);
    expect(await ends.old.claim(claimRequest(worker))).toMatchObject({ jobs: [], lost: true });
    expect((await ends.old.renew(worker, 30_000)).status).toBe("lost");
    const batch = at(open, 0);
    const late = settleItem(batch, at(batch.jobs, 1), completed());
    await expect(ends.old.settle([late])).rejects.toMatchObject(moved);
  });

  test("refuses writes past the store as well, of every release", async () => {
    await using ends = await Ends.open(server);
    await fillStates(ends.old, 100);
    await ends.copy();
    using database = new DatabaseSync(ends.file);

    for (const text of [
      "UPDATE millrace_job SET priority = 1",
      "DELETE FROM millrace_ready",
      "INSERT INTO millrace_interned_name (kind, text) VALUES (1, 'late')",
      "INSERT INTO millrace_attempt (key, n, tries, crashes, finished_at, outcome) " +
        "VALUES (1, 9, 0, 0, 0, 5)",
    ]) {
      expect(() => database.exec(text)).toThrow(/moved to/);
    }
  });

  test("is opened by no process", async () => {
    await using ends = await Ends.open(server);
    await ends.copy();
    const late = makeSqliteStore({ path: ends.file });
    await expect(late.open()).rejects.toMatchObject({ code: "STORE_MOVED" });
  });

  test("cannot move a second time, nor take the move back", async () => {
    await using ends = await Ends.open(server);
    await using others = await Ends.open(server);
    await ends.copy();

    expect(await ends.copy()).toBeNull();
    await expect(ends.with(abandonCopy)).rejects.toMatchObject({ code: "STORE_OCCUPIED" });
    const mistyped = others.with(({ target, ...parts }) =>
      ends.with(({ source }) => abandonCopy({ ...parts, source, target })),
    );
    await expect(mistyped).rejects.toMatchObject({ code: "STORE_MOVED" });
    const elsewhere = others.with(({ target, ...parts }) =>
      ends.with(({ source }) => copyStore({ ...parts, source, target })),
    );
    await expect(elsewhere).rejects.toMatchObject({ code: "STORE_MOVED" });
  });
});

describe("a target", () => {
  test("with jobs of its own is refused, and stays as it is", async () => {
    await using ends = await Ends.open(server);
    await fillStates(ends.old, 100);
    const [id] = await add(await ends.moved(), {});

    await expect(ends.copy()).rejects.toMatchObject({ code: "STORE_OCCUPIED" });

    expect(await stateOf(await ends.moved(), id)).toBe("queued");
    await add(ends.old, {});
  });

  test("that another copy is under way to is refused", async () => {
    await using ends = await Ends.open(server);
    await fillStates(ends.old, 100);
    const second: unknown[] = [];
    const first = await ends.copy(({ source }) => ({
      source: {
        ...source,
        blockWrites: async (...args) => {
          second.push(await ends.copy().catch((error: unknown) => error));
          return source.blockWrites(...args);
        },
      },
    }));

    expect(second).toMatchObject([{ code: "STORE_BUSY" }]);
    expect(differences(first)).toEqual([]);
  });

  test("with an unfinished copy of another file is refused", async () => {
    await using ends = await Ends.open(server);
    await using others = await Ends.open(server);
    await expect(ends.copy(() => mortal)).rejects.toThrow("killed");

    const mixed = ends.with(({ target, ...parts }) =>
      others.with(({ source }) => copyStore({ ...parts, source, target })),
    );
    await expect(mixed).rejects.toMatchObject({ code: "STORE_OCCUPIED" });
  });

  test("is not gone on with when the file has gone on by itself", async () => {
    await using ends = await Ends.open(server);
    await fillStates(ends.old, 100);
    await expect(ends.copy(diesComparing)).rejects.toThrow("killed");
    await ends.with(async ({ source }) => source.unblockWrites());

    await expect(ends.copy()).rejects.toMatchObject({ code: "STORE_OCCUPIED" });
  });
});

describe("millrace copy", () => {
  test("counts and checks in a dry run, and writes nothing", async () => {
    await using ends = await Ends.open(server);
    await fillStates(ends.old, 100);

    const { code, out } = await ends.type("--dry-run", "-o", "json");

    expect(code).toBe(0);
    const { tables, problems, bytes } = JSON.parse(out);
    expect(tables).toContainEqual({ name: "job", rows: 106 });
    expect(problems).toEqual([]);
    expect(bytes).toBeGreaterThan(100_000);
    const schemas = `SELECT 1 FROM pg_namespace WHERE nspname = '${ends.schema}'`;
    expect(await ends.sql(schemas)).toEqual([]);
    await add(ends.old, {});
  });

  test("names what stands in the way in a dry run", async () => {
    await using ends = await Ends.open(server);
    await add(ends.old, {});
    await add(await ends.moved(), {});
    using database = new DatabaseSync(ends.file);
    database.exec("UPDATE millrace_job SET webhook = 'a' || char(0) || 'b'");

    const { code, out } = await ends.type("--dry-run");

    expect(code).toBe(1);
    expect(out).toContain("PROBLEM: the target: there are rows in interned_name, job");
    expect(out).toContain("PROBLEM: job.webhook contains U+0000 in rows: 1, the first with");
  });

  test("finds a planted difference, shows it and fails", async () => {
    await using ends = await Ends.open(server);
    await fillStates(ends.old, 100);
    expect((await ends.type()).code).toBe(0);
    await ends.sql(`UPDATE millrace.job SET payload = '{"forged":1}' WHERE key = 7`);
    await ends.sql("DELETE FROM millrace.tag WHERE key = (SELECT max(key) FROM millrace.tag)");

    const { code, out } = await ends.type("--verify");

    expect(code).toBe(1);
    expect(out).toMatch(/^job +106 +106 .*DIFFERENT$/m);
    expect(out).toMatch(/^attempt .* equal$/m);
    expect(out).toMatch(/^ {2}source {2}\{"key":7.*"payload":"sha256:\w{12}"/m);
    expect(out).toMatch(/^ {2}target {2}\{"key":7.*"payload":"sha256:\w{12}"/m);
    expect(out).not.toContain("forged");
    expect(out).toMatch(/^The first difference in tag:$/m);
  });

  test("stays closed when the comparison finds a difference", async () => {
    await using ends = await Ends.open(server);
    await fillStates(ends.old, 100);
    await expect(ends.copy(diesComparing)).rejects.toThrow("killed");
    await ends.sql(`BEGIN; SET LOCAL millrace_copy.writes = 'yes';
                    UPDATE millrace.attempt SET tries = tries + 1 WHERE n > tries; COMMIT`);

    expect(differences(await ends.copy()).map(({ table }) => table)).toEqual(["attempt"]);
    await expect(ends.moved()).rejects.toMatchObject({ code: "STORE_INCOMPLETE" });
  });

  test("tells how far it is on the way, and never a password", async () => {
    await using ends = await Ends.open(server);
    await fillStates(ends.old, 100);

    const dry = await ends.type("--dry-run");
    const { code, out, err } = await ends.type();
    const again = await ends.type();
    const abandoned = await ends.type("--abandon");

    expect(code).toBe(0);
    expect(err).toMatch(/no longer accepts writes; 4 runs were returned/);
    expect(err).toMatch(/100 %: .* rows\/s/);
    expect(out).toMatch(/^Source and target are equal/m);
    expect(again).toMatchObject({ code: 0, out: expect.stringContaining("before") });
    expect(abandoned.code).toBe(5);
    const printed = [dry, { out, err }, again, abandoned].map((each) => each.out + each.err);
    const refusal = await add(ends.old, {}).then(String, String);
    using database = new DatabaseSync(ends.file);
    const marks = JSON.stringify(database.prepare("SELECT * FROM millrace_meta").all());
    for (const text of [...printed, refusal, marks]) expect(text).not.toContain(PASSWORD);
    expect(marks).toContain("postgres://postgres@127.0.0.1:");
    expect(out).toContain("Point your processes to 'postgres://postgres@127.0.0.1:");
  });

  test.each([
    ["a source that is not there", { from: "sqlite:./no/such.db" }, /there is no store/, 2],
    ["a source that is no file", { from: "postgres://h/d" }, /--from must be a file/, 2],
    ["a target that is a file", { to: "sqlite:./b.db" }, /--to must be a PostgreSQL/, 2],
  ])("refuses %s", async (_, change, words, exitCode) => {
    await using ends = await Ends.open(server);
    const args = Object.entries(change).flatMap(([name, value]) => [`--${name}`, value]);
    const { code, err } = await ends.type(...args);
    expect(err).toMatch(words);
    expect(code).toBe(exitCode);
  });

  test("refuses a source of another age, and says what to do", async () => {
    await using ends = await Ends.open(server);
    await ends.old.close();
    using database = new DatabaseSync(ends.file);
    const setVersion = database.prepare("UPDATE millrace_meta SET value = ? WHERE name = 'schema'");

    setVersion.run("0");
    expect((await ends.type()).err).toMatch(/^STORE_OLDER: .*\n.*millrace migrate/);
    setVersion.run("999");
    expect((await ends.type()).err).toMatch(/^STORE_NEWER: /);
  });

  test("refuses a target of a newer release", async () => {
    await using ends = await Ends.open(server);
    await ends.moved();
    await ends.sql("UPDATE millrace.meta SET value = '999' WHERE name = 'schema'");
    expect((await ends.type()).err).toMatch(/^STORE_NEWER: /);
    await ends.sql("UPDATE millrace.meta SET value = '2' WHERE name = 'schema'");
  });
});
