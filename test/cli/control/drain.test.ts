/** `millrace drain`, on real stores and real processes. */
import { defineJob } from "millrace";
import { describe, expect, test, vi } from "vitest";
import { Project, TestStore, type } from "../command-line.ts";

const email = defineJob({ type: "email" });

describe("millrace drain", () => {
  test("waits for a real worker, counts, and ends with 0 when nothing runs (004-37)", async () => {
    using project = new Project("jobs.ts");
    const id = await project.enqueue("long");
    const worker = project.start("worker", "--jobs", "jobs.ts", "--grace", "100ms");
    await project.untilRunning(id);

    const drain = project.start("drain", "--type", "long", "--reason", "a deploy");
    await untilPaused(project);
    const during = await type("pauses", "--db", project.db);
    await type("jobs", "cancel", id, "--db", project.db);
    const { code, stdout, stderr } = await drain.ended;
    worker.child.kill("SIGTERM");
    await worker.ended;

    expect(during.out).toMatch(/^type +long .* a deploy/m);
    expect(code).toBe(0);
    expect(stderr).toBe("Type long: 1 job still running\nType long: 0 jobs still running\n");
    expect(stdout).toBe(
      "Type long is drained: none of its jobs runs. " +
        "The pause stays. To resume: millrace resume --type long\n",
    );
  });

  test("ends with 124 and the ids when jobs still run, and Ctrl-C with 130", async () => {
    using project = new Project("jobs.ts");
    const id = await project.enqueue("long");
    const worker = project.start("worker", "--jobs", "jobs.ts", "--grace", "100ms");
    await project.untilRunning(id);

    const late = await project.start("drain", "--all", "--timeout", "300ms").ended;
    const options = ["--timeout", "1ms", "-o", "json"];
    const asJson = await project.start("drain", "--all", ...options).ended;
    await type("resume", "--all", "--db", project.db);
    const stopped = project.start("drain", "--all", "--reason", "second");
    await untilPaused(project, "second");
    stopped.child.kill("SIGINT");
    const interrupted = await stopped.ended;
    const pauses = await type("pauses", "--db", project.db);
    worker.child.kill("SIGTERM");
    await worker.ended;

    expect(late.code).toBe(124);
    expect(late.stderr).toContain("DRAIN_TIMED_OUT: 1 job still runs after 300 ms");
    expect(late.stderr).toContain(`  ${id}\nThe pause stays. To resume: millrace resume --all\n`);
    expect(asJson.code).toBe(124);
    expect(JSON.parse(asJson.stdout)).toEqual({
      installation: true,
      drained: false,
      resumed: false,
      running: 1,
      atLeast: false,
      ids: [id],
    });
    expect(interrupted).toMatchObject({ code: 130, stdout: "" });
    expect(interrupted.stderr).toMatch(/The pause stays. To resume: millrace resume --all\n$/);
    expect(pauses.out).toMatch(/^installation +all /m);
  });

  test("resumes afterwards if it is told to, and says what it did as JSON", async () => {
    await using store = new TestStore();
    await (await store.mill).enqueue(email);

    const drained = await store.json("drain", "--lane", "general", "--resume-after");
    const kept = await store.json("drain", "--tenant", "default");

    const rest = { drained: true, running: 0, atLeast: false, ids: [], keptPause: null };
    expect(drained).toEqual({ lane: "general", resumed: true, ...rest });
    expect(kept).toEqual({ tenant: "default", resumed: false, ...rest });
    expect(await store.json("pauses")).toMatchObject([{ kind: "tenant", name: "default" }]);
  });

  test("names the person who resumes afterwards in the audit", async () => {
    await using store = new TestStore();
    await (await store.mill).enqueue(email);

    await store.json("drain", "--type", "email", "--by", "grace", "--resume-after");

    const acts = await (await store.mill).audit.list();
    expect(acts.map(({ name, actor }) => `${name} by ${actor}`).toSorted()).toEqual([
      "type_paused by grace",
      "type_resumed by grace",
    ]);
  });

  test("keeps a pause that it finds, also if it is told to resume", async () => {
    await using store = new TestStore();
    const mill = await store.mill;
    await mill.enqueue(email);
    await mill.pause({ type: "email" }, "the bank is down", { actor: "ada" });

    const { out } = await store.type("drain", "--type", "email", "--resume-after");
    const drained = await store.json("drain", "--type", "email", "--by", "grace");

    expect(out).toBe(
      "Type email is drained: none of its jobs runs. " +
        "The target was paused before by ada: the bank is down. " +
        "The pause stays. To resume: millrace resume --type email\n",
    );
    const keptPause = { reason: "the bank is down", pausedBy: "ada" };
    expect(drained).toMatchObject({ drained: true, resumed: false, keptPause });
    expect(await store.json("pauses")).toMatchObject([keptPause]);
  });

  test("drains a worker, and leaves it quiet", async () => {
    await using store = new TestStore();
    await using worker = (await store.mill).work({ jobs: [email.run(() => {})] });
    await worker.ready;

    const drained = await store.json("drain", "--worker", worker.id.slice(0, 12));

    expect(drained).toMatchObject({ worker: worker.id, drained: true, resumed: false });
    expect(await store.json("workers", "list")).toMatchObject([{ isQuiet: true }]);
    expect(await store.json("pauses")).toEqual([]);
  });

  test.each([
    [[], "--worker and --all.\nFor example: --lane reports, or --all for the whole installation"],
    [["--reason", "a deploy"], "Name exactly one of"],
    [["--lane", "a", "--type", "b"], "Name exactly one of"],
    [["--lane", "a", "--worker", "b"], "Name exactly one of"],
    [["--lane", "a", "--all"], "Name exactly one of"],
    [["--worker", "b", "--all"], "Name exactly one of"],
    [["--worker", "01M7GQMY55ECET74219MBT9GXQ", "--resume-after"], "stays quiet"],
    [["--timeout", "soon"], "Write a duration"],
  ])("refuses %j as a mistake of usage", async (args, says) => {
    await using store = new TestStore();

    const { code, err } = await store.type("drain", ...args);

    expect(code).toBe(2);
    expect(err).toContain(says);
    expect(await store.json("pauses")).toEqual([]);
  });

  test("pauses and resumes all jobs with --all", async () => {
    await using store = new TestStore();
    await (await store.mill).enqueue(email);

    const paused = await store.type("pause", "--all", "--reason", "night");
    const resumed = await store.type("resume", "--all");

    expect(paused.out).toBe("The whole installation is paused.\n");
    expect(resumed.out).toBe("The whole installation is resumed: 1 queued job may run now.\n");
  });
});

/** Resolves once a pause with this reason is stored. */
async function untilPaused(project: Project, reason = "a deploy"): Promise<void> {
  const isPaused = async (): Promise<boolean> =>
    (await type("pauses", "--db", project.db)).out.includes(reason);
  await vi.waitUntil(isPaused, { timeout: 20_000, interval: 100 });
}
