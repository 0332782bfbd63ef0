/**
 * The job that is killed at every point: three phases with steps, exclusive units side by side,
 * progress, log lines, and children, of which two share a key and one runs after another.
 * Everything that is done leaves a line in a log outside the system.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { defineJob, typed } from "millrace";
import type { AnyJob } from "millrace";
import { AppendLog } from "../fleet/ledger.ts";

/** Something was done, by a run with this fence. */
export interface Deed {
  readonly what: "phase" | "unit" | "child";
  readonly name: string;
  readonly fence: number;
  readonly pid: number;
}

/** What the process that runs it is told. */
export interface PipelineSettings {
  readonly url: string;
  readonly deeds: string;
  readonly leaseMs: number;
  /** The file that takes how often each verb of the store was called. */
  readonly calls?: string;
}

export const REPORT_KEY = "the report";
const PAGES = ["p1", "p2", "p3", "p4", "p5", "p6"];
const UNIT_MS = 5;
/** What units and children may have one at a time. */
const KEY = "press";
export const NAMES: readonly string[] = [KEY, "even", "odd"];

/** What must stand in the store at the end, after any faults on the way. */
export const EXPECTED = {
  phases: [
    { name: "gather", result: { pages: PAGES } },
    { name: "render", result: { rendered: PAGES.length } },
    { name: "publish", result: "at /report" },
  ],
  units: [
    { phase: "gather", unit: "index", result: "6 pages" },
    ...PAGES.map((page) => ({ phase: "render", unit: page, result: `html of ${page}` })),
    { phase: "publish", unit: "upload", result: "/report" },
  ],
  children: ["cover", "appendix", "notice", "digest"],
  /** Of the run that succeeded; those before it may have come to the same lines. */
  lastLines: ["published"],
} as const;

const child = defineJob({ type: "leaf", payload: typed<{ name: string }>() });

/** Small jobs that come first: behind them the report waits in the prefetch of its worker. */
export const warmUp = defineJob({ type: "warm-up", payload: typed<number>() });

/** As its producer knows it. */
export const report = defineJob({ type: "report", timeout: false });

export function pipelineJobs(file: string): readonly AnyJob[] {
  const log = new AppendLog(file);
  const note = (
    what: Deed["what"],
    name: string,
    { lease }: { lease: { fence: number } },
  ): void => {
    const deed: Deed = { what, name, fence: lease.fence, pid: process.pid };
    log.append(JSON.stringify(deed));
  };
  return [
    warmUp.run(() => {}),
    child.run(({ name }, ctx) => note("child", name, ctx)),
    defineJob({ type: "report", timeout: false })
      .phase("gather", async (_, ctx) => {
        note("phase", "gather", ctx);
        await ctx.enqueue(child, { name: "cover" }, { concurrencyKey: KEY });
        await ctx.step("index", () => {
          note("unit", "gather/index", ctx);
          return `${PAGES.length} pages`;
        });
        return { pages: PAGES };
      })
      .phase("render", async (_, ctx) => {
        note("phase", "render", ctx);
        await ctx.enqueue(child, { name: "appendix" }, { concurrencyKey: KEY });
        const { completed } = await ctx.each(
          ctx.results.gather.pages,
          (page) => page,
          async (page) => {
            note("unit", `render/${page}`, ctx);
            await sleep(UNIT_MS);
            return `html of ${page}`;
          },
          {
            concurrency: 2,
            exclusive: (page) => (Number(page.slice(1)) % 2 === 0 ? "even" : "odd"),
          },
        );
        return { rendered: completed.length };
      })
      .phase("publish", async (_, ctx) => {
        note("phase", "publish", ctx);
        const notice = await ctx.enqueue(child, { name: "notice" });
        await ctx.enqueue(child, { name: "digest" }, { after: [notice] });
        await ctx.progress(50);
        const place = await ctx.step("upload", () => {
          note("unit", "publish/upload", ctx);
          return "/report";
        });
        ctx.log.info("published");
        return `at ${place}`;
      }),
  ];
}
