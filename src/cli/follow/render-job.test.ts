import { stripVTControlCharacters, styleText } from "node:util";
import { describe, expect, test } from "vitest";
import type { PhaseView, ProgressView, UnitCounts } from "../../api/progress.ts";
import { renderJob, type JobRendering, type Paint } from "./render-job.ts";
import { columnsOf } from "./columns.ts";
import { UNKNOWN_RATE } from "./rate.ts";

const STARTED = new Date("2026-11-15T10:00:00Z");
const NOW = STARTED.getTime() + 65_000;

describe("the picture of a pipeline", () => {
  test("has bars, counters, rate, time left and the last log line at 80 columns", () => {
    expect(drawn(pipeline(), 80)).toMatchInlineSnapshot(`
      "build_processing  running, 47 %, 1 min 5 s
        inventory  ████████████████████████ 100 %  completed
        editions   █████████░░░░░░░░░░░░░░░  41 %  running    412/1000 done, 3 failed
        dashboard  ░░░░░░░░░░░░░░░░░░░░░░░░   0 %  pending
        41 units/s · 15 s left in phase
        info moved an edition slug=main ms=12"
    `);
  });

  test("gives way at 40 columns: shorter bars, counters in one place", () => {
    expect(drawn(pipeline(), 40)).toMatchInlineSnapshot(`
      "build_proces…  running, 47 %, 1 min 5 s
        inventory  █████████ 100 %  completed
        editions   ███░░░░░░  41 %  running
        dashboard  ░░░░░░░░░   0 %  pending
        units 412/1000 done, 3 failed
        41 units/s · 15 s left in phase
        info moved an edition slug=main ms=12"
    `);
  });

  test("uses the room of 120 columns", () => {
    expect(drawn(pipeline(), 120)).toMatchInlineSnapshot(`
      "build_processing  running, 47 %, 1 min 5 s
        inventory  ██████████████████████████████ 100 %  completed
        editions   ████████████░░░░░░░░░░░░░░░░░░  41 %  running    412/1000 done, 3 failed
        dashboard  ░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░   0 %  pending
        41 units/s · 15 s left in phase
        info moved an edition slug=main ms=12"
    `);
  });

  test("leaves the bars out where there is no room for any", () => {
    expect(drawn(pipeline(), 24)).toMatchInlineSnapshot(`
      "build_p…  running, 47 …
        invento…  100 %  com…
        editions   41 %  run…
        dashboa…    0 %  pen…
        units 412/1000 done,…
        41 units/s
        15 s left in phase
        info moved an editio…"
    `);
  });

  test("says after the end how long the last run took, and nothing of what is left", () => {
    const rendering = pipeline();
    const finishedAt = new Date(STARTED.getTime() + 90_000);
    const job = { ...rendering.job, state: "completed_with_errors", finishedAt } as const;
    const units = counts({ total: 1000, completed: 997, failed: 3 });
    const phases = [{ ...phase("editions", "completed"), units }];
    const progress = { ...rendering.progress, state: job.state, percent: 100, phases, units };

    expect(drawn({ ...rendering, job, progress }, 80)).toMatchInlineSnapshot(`
      "build_processing  completed with errors, 1 min 30 s
        editions  █████████████████████████ 100 %  completed  997/1000 done, 3 failed
        info moved an edition slug=main ms=12"
    `);
  });

  test.each([1, 2, 10, 20, 33, 40, 60, 80, 120, 300])(
    "never fills the last of %i columns",
    (width) => {
      const odd = pipeline({ name: "出版する".repeat(20), type: "🚀".repeat(40) });
      for (const rendering of [pipeline(), odd, { ...odd, job: { ...odd.job, type: "x" } }]) {
        const lines = renderJob(rendering, { width, height: 24 }, NOW);
        expect(lines.map(columnsOf).filter((columns) => columns >= Math.max(2, width))).toEqual([]);
      }
    },
  );

  test.each([1, 2, 5, 8, 12])("never takes the last of %i rows", (height) => {
    const phases = Array.from({ length: 30 }, (_, n) => phase(`phase-${n}`, "pending"));
    const rendering = { ...pipeline(), progress: { ...pipeline().progress, phases } };

    expect(renderJob(rendering, { width: 80, height }, NOW).length).toBeLessThan(
      Math.max(2, height),
    );
  });

  test("shows the phases around the one that goes on where not all fit", () => {
    const phases = Array.from({ length: 30 }, (_, n) =>
      phase(`phase-${n}`, n < 17 ? "completed" : n === 17 ? "running" : "pending"),
    );
    const progress = { ...progressOf(phases), phase: "phase-17", percent: 57 };
    const rendering = { ...pipeline(), progress, rate: UNKNOWN_RATE, lastLine: null };

    expect(drawn(rendering, 60, 9)).toMatchInlineSnapshot(`
      "build_processing  running, 57 %, 1 min 5 s
        … 15 more before
        phase-15  ██████████████████████████████ 100 %  completed
        phase-16  ██████████████████████████████ 100 %  completed
        phase-17  ░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░   0 %  running
        phase-18  ░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░   0 %  pending
        phase-19  ░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░   0 %  pending
        … 10 more after"
    `);
  });

  test("cuts long names, and long lines of the log", () => {
    const rendering = pipeline({
      name: "render-every-page-of-every-edition",
      type: "build".repeat(30),
    });
    const line = { level: "warn", message: "slow ".repeat(30), fields: null } as const;

    expect(drawn({ ...rendering, lastLine: line }, 60)).toMatchInlineSnapshot(`
      "buildbuildbuildbuildbuildbuildbu…  running, 47 %, 1 min 5 s
        inventory          █████████████████████ 100 %  completed
        render-every-pag…  ████████░░░░░░░░░░░░░  41 %  running
        dashboard          ░░░░░░░░░░░░░░░░░░░░░   0 %  pending
        units 412/1000 done, 3 failed · 41 units/s
        15 s left in phase
        warn slow slow slow slow slow slow slow slow slow slow s…"
    `);
  });

  test("lets no name and no log line steer the terminal", () => {
    const evil = "\u001b[2J\u009b31m\n\u202e";
    const rendering = pipeline({ name: evil, type: evil });
    const line = { level: "info", message: evil, fields: { [evil]: evil } } as const;

    expect(
      renderJob({ ...rendering, lastLine: line }, { width: 80, height: 24 }, NOW).join(""),
    ).not.toMatch(/[\p{Cc}\u202e]/u);
  });

  test("has colours only where they are painted, and the same words and widths then", () => {
    const paint: Paint = (style, text) => styleText(style, text, { validateStream: false });
    const coloured = renderJob(pipeline(), { width: 80, height: 24 }, NOW, paint);

    const bare = coloured.map(stripVTControlCharacters);
    expect(coloured.join("")).toContain(styleText("green", "completed", { validateStream: false }));
    expect(bare).toEqual(renderJob(pipeline(), { width: 80, height: 24 }, NOW));
  });
});

describe("the picture of a job without phases", () => {
  test("is one line while there is nothing to tell", () => {
    expect(drawn(plainJob({}), 80)).toBe("email  running, 0 %, 1 min 5 s");
  });

  test("has one bar once it has reported its progress", () => {
    const rendering = plainJob({ percent: 30, phasePercent: 30, at: STARTED });

    expect(drawn(rendering, 60)).toMatchInlineSnapshot(`
      "email  running, 30 %, 1 min 5 s
        █████████░░░░░░░░░░░░░░░░░░░░░  30 %  running"
    `);
  });

  test("shows its units", () => {
    const rendering = plainJob({
      percent: 50,
      units: counts({ total: 8, completed: 3, failed: 1, running: 4 }),
    });

    expect(drawn(rendering, 60)).toMatchInlineSnapshot(`
      "email  running, 50 %, 1 min 5 s
        ███████████████░░░░░░░░░░░░░░░  50 %  running
        units 3/8 done, 1 failed"
    `);
  });

  test.each([
    ["scheduled", 0, "email  scheduled, due in 5 min"],
    ["queued", 0, "email  queued"],
    ["queued", 2, "email  queued again after run 2"],
  ] as const)("says that it is %s after %i runs", (state, run, line) => {
    const rendering = plainJob({});
    const runAt = new Date(NOW + 300_000);

    expect(drawn({ ...rendering, run, job: { ...rendering.job, state, runAt } }, 80)).toBe(line);
  });

  test.each([
    [0, "0.0 units/s"],
    [0.05, "3.0 units/min"],
    [0.1, "0.1 units/s"],
    [9.94, "9.9 units/s"],
    [1234.5, "1235 units/s"],
  ])("shows %f units by second as %s", (unitsPerSecond, text) => {
    const rendering = plainJob({ units: counts({ total: 8, completed: 3 }) });

    expect(drawn({ ...rendering, rate: { unitsPerSecond, leftMs: null } }, 80)).toContain(text);
  });

  test.each([
    [1, "1 s left"],
    [59_001, "1 min left"],
    [3_725_000, "1 h 2 min left"],
  ])("rounds %i ms up: %s", (leftMs, text) => {
    expect(drawn({ ...plainJob({}), rate: { unitsPerSecond: 0, leftMs } }, 80)).toContain(text);
  });
});

function drawn(rendering: JobRendering, width: number, height = 24): string {
  return renderJob(rendering, { width, height }, NOW).join("\n");
}

/** In the second of three phases, with one of its units failed. */
function pipeline({ name = "editions", type = "build_processing" } = {}): JobRendering {
  const units = counts({ total: 1000, completed: 412, failed: 3, running: 585 });
  const phases = [
    phase("inventory", "completed"),
    { ...phase(name, "running"), percent: 41, units },
    phase("dashboard", "pending"),
  ];
  const progress = { ...progressOf(phases), phase: name, percent: 47, units };
  return {
    job: { type, state: "running", runAt: null, startedAt: STARTED, finishedAt: null },
    run: 1,
    progress,
    rate: { unitsPerSecond: 41.2, leftMs: 14_200 },
    lastLine: { level: "info", message: "moved an edition", fields: { slug: "main", ms: 12 } },
  };
}

function plainJob(progress: Partial<ProgressView>): JobRendering {
  return {
    ...pipeline({ type: "email" }),
    progress: { ...progressOf([]), ...progress },
    rate: UNKNOWN_RATE,
    lastLine: null,
  };
}

function progressOf(phases: readonly PhaseView[]): ProgressView {
  return {
    state: "running",
    percent: 0,
    phase: null,
    phasePercent: 0,
    data: null,
    at: null,
    phases,
    units: counts({}),
  };
}

function phase(name: string, state: PhaseView["state"]): PhaseView {
  const percent = state === "completed" ? 100 : 0;
  const times = { startedAt: null, finishedAt: null };
  return { name, state, percent, result: null, ...times, units: counts({}) };
}

function counts(some: Partial<UnitCounts>): UnitCounts {
  return { total: 0, planned: 0, running: 0, completed: 0, failed: 0, ...some };
}
