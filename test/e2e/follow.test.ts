/** Jobs that are followed by the real command line, while another process runs them. */
import { describe, expect, test } from "vitest";
import { runCommandLine } from "../../src/cli/program.ts";
import { Command } from "./command.ts";
import { FakeScreen, openHouse } from "./followed.ts";

describe("millrace enqueue --follow where no person watches", () => {
  test("tells every change on a line of its own, and only the result on stdout", async () => {
    await using house = await openHouse();

    const command = house.start("enqueue", "publish", "--follow");
    await command.said(/phase fetch 50 %/);
    house.open("fetched");
    await command.said(/units 4\/12 done, 1 failed/);
    house.open("moved");

    expect(await command.ended).toBe(3);
    expect(JSON.parse(command.out)).toEqual({ pages: 12 });
    expect(storyOf(command.err)).toEqual([
      "running, run 1",
      "phase fetch started",
      "phase fetch completed",
      "phase editions started",
      "unit 3 of phase editions failed: NonRetryableError: no edition 3",
      "unit 9 of phase editions failed: NonRetryableError: no edition 9",
      "phase editions completed, units 10/12 done, 2 failed",
      "phase render started",
      "phase render completed",
      "completed_with_errors",
    ]);
    expect(logOf(command.err)).toEqual(["info fetched pages=12 from=r2", "warn render is slow"]);
  });

  test("prints the whole job at the end with -o json, and every event with -o ndjson", async () => {
    await using house = await openHouse();
    house.open("fetched");
    house.open("moved");

    const whole = house.start("enqueue", "publish", "--follow", "-o", "json");
    const events = house.start("enqueue", "publish", "--follow", "-o", "ndjson");

    expect([await whole.ended, await events.ended]).toEqual([3, 3]);
    expect(JSON.parse(whole.out)).toMatchObject({
      type: "publish",
      state: "completed_with_errors",
      result: { pages: 12 },
    });
    const told = events.out
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    const failed = told.filter(({ event }) => event === "job:unit:failed");
    expect(failed.map(({ phase, unit }) => [phase, unit])).toEqual([
      ["editions", "3"],
      ["editions", "9"],
    ]);
    expect(told.filter(({ event }) => event === "job:log")).toMatchObject([
      { level: "info", message: "fetched", fields: { pages: 12, from: "r2" } },
      { level: "warn", message: "render is slow", fields: null },
    ]);
    expect(told.at(-1)).toMatchObject({ event: "job:completed", result: { pages: 12 } });
  });

  test.each([
    ["doomed", 1, /failed: NonRetryableError: no way\n$/],
    ["cancelled", 4, /cancelled: not wanted\n$/],
  ])("ends like the job: %s with %i", async (type, code, lastWords) => {
    await using house = await openHouse();

    const command = house.start("enqueue", type, "--follow");

    expect(await command.ended).toBe(code);
    expect(command.out).toBe("");
    expect(command.err).toMatch(lastWords);
  });
});

describe("millrace enqueue --follow on a terminal", () => {
  test("draws where the job stands, and leaves what people read afterwards", async () => {
    await using house = await openHouse();
    const screen = new FakeScreen();
    let out = "";
    const code = runCommandLine(["enqueue", "publish", "--follow", "--db", house.db], {
      out: (text) => void (out += text),
      err: () => {},
      isWatched: true,
      screen,
    });

    const [head, fetch, editions] = (await screen.drew(/ 50 %/)).split("\n");
    expect(head).toMatch(/^publish {2}running, 17 %, /);
    expect(fetch).toMatch(/^ {2}fetch +█+░+ +50 % {2}running$/);
    expect(editions).toMatch(/^ {2}editions +░+ +0 % {2}pending$/);
    expect(await screen.drew(/info fetched/)).toMatch(/\n {2}info fetched pages=12 from=r2\n$/);
    house.open("fetched");
    expect(await screen.drew(/ 41 %/)).toMatch(
      / 100 % {2}completed\n {2}editions +█+░+ +41 % {2}running +4\/12 done, 1 failed\n/,
    );
    house.open("moved");

    expect(await code).toBe(3);
    expect(JSON.parse(out)).toEqual({ pages: 12 });
    expect(screen.pictures.at(-1)).toMatch(/^publish {2}completed with errors, .*\n {2}fetch /);
    expect(storyOf(screen.said)).toEqual([
      "unit 3 of phase editions failed: NonRetryableError: no edition 3",
      "unit 9 of phase editions failed: NonRetryableError: no edition 9",
    ]);
  });
});

describe("Ctrl-C while a job is followed", () => {
  test("detaches; the job goes on, and what it prints takes up the watch again", async () => {
    await using house = await openHouse();
    const command = house.start("enqueue", "publish", "--follow");
    await command.said(/phase fetch 50 %/);

    command.child.kill("SIGINT");

    expect(await command.ended).toBe(130);
    expect(command.out).toBe("");
    const [, again = "", id = ""] =
      /Detached; .* again: millrace (jobs follow (\w{26}) --db sqlite:\S+)\n$/.exec(command.err) ??
      [];
    expect(await house.mill.jobs.get(id)).toMatchObject({ state: "running" });

    house.open("fetched");
    house.open("moved");
    const second = new Command(house.folder, again.split(" "));
    expect(await second.ended).toBe(3);
    expect(JSON.parse(second.out)).toEqual({ pages: 12 });
    expect(storyOf(second.err)).toContain("phase editions completed, units 10/12 done, 2 failed");
  });
});

describe("the log of a job", () => {
  test("is printed as it grows, with the exit code of the job", async () => {
    await using house = await openHouse();
    const { id } = await house.mill.enqueue(house.publish);

    const command = house.start("jobs", "logs", id, "--follow");
    await command.said(/info fetched/);
    house.open("fetched");
    house.open("moved");

    expect(await command.ended).toBe(3);
    expect(command.out).toMatch(/^\S+Z info fetched pages=12 from=r2\n\S+Z warn render is slow\n$/);
    expect(command.err).toBe("");
  });

  test("can be left and taken up again", async () => {
    await using house = await openHouse();
    const { id } = await house.mill.enqueue(house.publish);
    const command = house.start("jobs", "logs", id, "--follow");
    await command.said(/info fetched/);

    command.child.kill("SIGINT");

    expect(await command.ended).toBe(130);
    expect(command.err).toContain(`millrace jobs logs ${id} --follow --db sqlite:`);
    expect(await house.mill.jobs.get(id)).toMatchObject({ state: "running" });
  });

  test("is part of the job's sheet where that is asked for, and a page of its own", async () => {
    await using house = await openHouse();
    house.open("fetched");
    house.open("moved");
    const { id } = await house.mill.enqueue(house.publish);
    await house.mill.wait({ id, type: "publish" });

    const commands = [
      house.start("jobs", "show", id, "--logs"),
      house.start("jobs", "show", id, "--logs", "-o", "json"),
      house.start("jobs", "logs", id),
      house.start("jobs", "logs", id, "-o", "json"),
      house.start("jobs", "logs", id, "-o", "ndjson"),
    ];
    for (const command of commands) expect(await command.ended).toBe(0);

    const [sheet = "", whole = "", lines = "", page = "", each = ""] = commands.map(
      ({ out }) => out,
    );
    expect(lines).toMatch(/^\S+Z info fetched pages=12 from=r2\n\S+Z warn render is slow\n$/);
    expect(sheet.endsWith(`\n\n${lines}`)).toBe(true);
    const logs = [
      { line: 1, attempt: 1, level: "info", message: "fetched" },
      { line: 2, attempt: 1, level: "warn", message: "render is slow" },
    ];
    expect(JSON.parse(whole)).toMatchObject({ job: { id }, logs });
    expect(JSON.parse(page)).toMatchObject({ lines: logs });
    expect(
      each
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line)),
    ).toMatchObject(logs);
  });

  test("that goes on is no single JSON document", async () => {
    await using house = await openHouse();
    const { id } = await house.mill.enqueue(house.publish);

    const command = house.start("jobs", "logs", id, "--follow", "-o", "json");

    expect(await command.ended).toBe(2);
    expect(command.err).toContain("-o ndjson");
    house.open("fetched");
    house.open("moved");
  });
});

/** What was said of the job but for what depends on when one looks: where it waited, how far. */
function storyOf(text: string): string[] {
  return sentencesOf(text).filter((each) => !/^queued$| \d+ %|: units |^(info|warn) /.test(each));
}

function logOf(text: string): string[] {
  return sentencesOf(text).filter((each) => /^(info|warn) /.test(each));
}

function sentencesOf(text: string): string[] {
  const lines = text.split("\n");
  return lines.flatMap((line) => /^\S+Z publish \w{26} (.*)$/.exec(line)?.[1] ?? []);
}
