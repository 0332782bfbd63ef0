/**
 * An installation with something on every screen, whose names, payloads and errors try to be read
 * as markup. It is made by the product itself on a real file.
 */
import { z } from "zod";
import { defineJob, NonRetryableError, openMillrace, schedule, typed } from "../../../src/index.ts";
import type { Millrace } from "../../../src/index.ts";

/** Runs where a page reads text as markup, as an attribute or as an address. */
export const HOSTILE = [
  `<img src=x onerror="window.pwned=1">`,
  `"><script>window.pwned=2</script>`,
  `javascript:window.pwned=3`,
  `' onmouseover='window.pwned=4`,
  `\u202Egnp.exe {{7*7}} \${window.pwned=5}`,
] as const;

const [IMAGE, SCRIPT, ADDRESS, HANDLER, BIDI] = HOSTILE;

interface Payload {
  readonly text: string;
  readonly big?: number;
  readonly nested?: { readonly deep: readonly string[] };
}

const payload = typed<Payload>();

const good = defineJob({ type: "scene.good", payload }).run(async ({ text }, ctx) => {
  ctx.log.warn(text, { field: IMAGE });
  return { echoed: text };
});
const bad = defineJob({ type: "scene.bad", payload, category: "billing" }).run(({ text }) => {
  throw new NonRetryableError(text);
});
const pipeline = defineJob({ type: "scene.pipeline", payload })
  .phase("collect", async ({ text }) => ({ text }))
  .phase("render", async (_, ctx) =>
    ctx.each(
      ["one", "two", IMAGE],
      (key) => key,
      async (key) => {
        if (key === "two") throw new NonRetryableError(SCRIPT);
        return { key };
      },
    ),
  );
const parent = defineJob({ type: "scene.parent", payload }).run(async (_, ctx) => {
  await ctx.enqueue(good, { text: "a child" });
});
const markup = defineJob({ type: `scene.${IMAGE}`, payload }).run(async () => {});
const calling = defineJob({ type: "scene.calling", payload, services: [`bank ${SCRIPT}`] }).run(
  async () => {},
);

/** The page makes a form from its schema. */
const form = defineJob({
  type: "scene.form",
  payload: z.object({
    to: z.string().describe(IMAGE),
    copies: z.int().min(1).max(9).default(2),
    size: z.enum(["small", "large"]),
    lines: z.array(z.string()).optional(),
    address: z.object({ city: z.string() }),
  }),
}).run(async () => {});

const sceneJobs = [good, bad, pipeline, parent, markup, calling, form];

export interface Scene {
  readonly mill: Millrace;
  readonly failedId: string;
  readonly pipelineId: string;
  readonly waitingId: string;
  readonly correlationId: string;
}

/** Fills the store. The caller closes the mill. */
export async function makeScene(url: string): Promise<Scene> {
  const mill = await openMillrace(url);
  const worker = mill.work({
    jobs: sceneJobs,
    schedules: [
      schedule("nightly", { cron: "0 3 * * *", timeZone: "Europe/Berlin" }, good, { text: "x" }),
    ],
    appVersion: `v1 ${IMAGE}`,
    signals: false,
  });
  await worker.ready;
  const correlationId = "a user's action";
  const made = await mill.enqueueMany([
    ...HOSTILE.map((text) => good.of({ text }, { tenant: "acme", tags: { area: HANDLER } })),
    ...HOSTILE.map((text) => bad.of({ text }, { tenant: "umbra" })),
    parent.of({ text: BIDI }, { correlationId }),
    markup.of({ text: ADDRESS }),
  ]);
  const piped = await mill.enqueue(pipeline, { text: "p", nested: { deep: [IMAGE] } });
  for (const job of made) await mill.wait(job);
  await mill.wait(piped);
  await worker.stop();
  await mill.breakers.forceOpen(`bank ${SCRIPT}`, HANDLER, { actor: IMAGE });
  await mill.pause({ lane: "bulk" }, IMAGE, { actor: SCRIPT });
  await mill.limits.set({ type: "scene.good" }, { concurrency: 5 });
  await mill.schedules.create(
    schedule("stored", { cron: "*/5 * * * *", missed: "skip" }, good, { text: SCRIPT }),
    { actor: "ada" },
  );
  const waiting = await mill.enqueue(calling, { text: ADDRESS });
  await mill.enqueueMany([good.of({ text: "later" }, { delay: "1h" }), good.of({ text: "now" })]);
  return {
    mill,
    failedId: made[HOSTILE.length]?.id ?? "",
    pipelineId: piped.id,
    waitingId: waiting.id,
    correlationId,
  };
}
