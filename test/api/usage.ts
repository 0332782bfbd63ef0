/** The ten commonest tasks, as an application would write them. Compiled, never run. */
import * as v from "valibot";
import { z } from "zod";
import { defineJob, openMillrace, RateLimitedError, schedule } from "millrace";

declare const postbox: { deliver(to: string, text: string): Promise<{ receipt: string }> };
declare const scan: (buildId: number) => Promise<{ files: string[]; scannedAt: Date }>;
declare const editionsOf: (files: readonly string[]) => Promise<{ slug: string; draft: boolean }[]>;
declare const switchOver: (slug: string) => Promise<{ purged: number }>;
declare const redraw: (editions: number) => Promise<{ pages: number }>;

// 1 A job, and a program that runs it.
export const welcome = defineJob({
  type: "welcome",
  payload: z.object({ to: z.email(), name: z.string().default("friend") }),
  lane: "fast",
}).run(async ({ to, name }) => postbox.deliver(to, `Welcome, ${name}`));

await using mill = await openMillrace("sqlite:./millrace.db");
await using worker = mill.work({ jobs: [welcome] });
await worker.ready;
await mill.enqueue(welcome, { to: "grace@example.org" });

// 2 Wait for the result, or for the end whatever it is.
const sent = await mill.enqueue(welcome, { to: "grace@example.org", name: "Grace" });
const { receipt } = await mill.result(sent, { timeout: "30s" });
const end = await mill.wait(sent, { signal: AbortSignal.timeout(5_000) });
if (end.state === "failed") console.error(end.error.class, end.error.message, end.deadLetterId);
if (end.state === "cancelled") console.error(end.reason ?? "no reason given");

// 3 Later, only once, and easy to find again.
await mill.enqueue(
  welcome,
  { to: "grace@example.org" },
  {
    delay: "5m",
    priority: "high",
    idempotencyKey: "welcome-grace",
    dedupKey: { key: "grace", onConflict: "replace" },
    correlationId: "signup-42",
    createdBy: "signup form",
  },
);

// 4 A pipeline: each phase reads what those before it have stored.
export const publish = defineJob({
  type: "publish",
  payload: v.object({ buildId: v.number() }),
  maxAttempts: 3,
  timeout: "20m",
  backoff: { kind: "exponential", base: "2s", factor: 2, jitter: 0.2, cap: "5m" },
  services: ["object-store"],
})
  .phase("inventory", async ({ buildId }) => scan(buildId))
  .phase("tracking", async (_, ctx) => editionsOf(ctx.results.inventory.files))
  .phase("editions", async (_, ctx) =>
    ctx.each(
      ctx.results.tracking,
      (edition) => edition.slug,
      (edition) => switchOver(edition.slug),
      { concurrency: 8, exclusive: (edition) => edition.slug },
    ),
  )
  .phase("dashboard", async (_, ctx) => redraw(ctx.results.editions.completed.length));

// 5 Follow progress.
const stopListening = mill.on("job:progress", ({ phase, overall }) => console.log(phase, overall));
const build = await mill.enqueue(
  publish,
  { buildId: 7 },
  { tenant: "acme", tags: { repo: "docs" } },
);
const pages: number = (await mill.result(build)).pages;
stopListening();

// 6 Every night.
export const cleanup = defineJob({ type: "cleanup", maxAttempts: 2 }).run(async (_, ctx) => {
  await ctx.progress(50, { message: "half way" });
});
export const nightly = schedule(
  "nightly cleanup",
  { cron: "0 3 * * *", timeZone: "Europe/Berlin", missed: "once", overlap: "skip" },
  cleanup,
);

// 7 Say how an error counts, protect a service, never charge twice.
export const charge = defineJob({
  type: "charge",
  payload: z.object({ orderId: z.string() }),
  services: ["bank"],
  classify: (error) => (error instanceof TypeError ? "non_retryable" : undefined),
}).run(async ({ orderId }, ctx) => {
  const paid = await ctx.step("charge", () =>
    ctx.breaker("bank", async (signal) => {
      const headers = { "idempotency-key": ctx.job.id, "x-fence": String(ctx.lease.fence) };
      const answer = await fetch("https://bank.example/charge", {
        method: "POST",
        signal,
        headers,
      });
      if (answer.status === 429) {
        throw new RateLimitedError("the bank asks to wait", { retryAfter: "30s", service: "bank" });
      }
      return { number: answer.headers.get("x-receipt") ?? "", at: new Date() };
    }),
  );
  if (paid.number === "") ctx.snooze("10s");
  await ctx.enqueue(welcome, { to: `${orderId}@example.org` }, { delay: "1h" });
  return paid;
});

// 8 In the caller's own transaction.
declare const client: { query(text: string, values?: unknown[]): Promise<unknown> };
await mill.enqueue(welcome, { to: "grace@example.org" }, { tx: client });

// 9 The web app imports the contract, the worker adds the handler and what it needs.
export const resize = defineJob({ type: "resize", payload: z.object({ key: z.string() }) });
await mill.enqueue(resize, { key: "a.png" });
export interface Images {
  images: { shrink(key: string): Promise<{ bytes: number }> };
}
export const resizer = resize.using<Images>().run(({ key }, ctx) => ctx.deps.images.shrink(key));
mill.work({
  jobs: [resizer, welcome, publish, cleanup],
  lanes: { fast: 3, general: 5 },
  types: ["resize", "cleanup"],
  schedules: [nightly],
  deps: { images: { shrink: async () => ({ bytes: 1 }) } },
});

// 10 Many at once, and the operator's verbs.
const [first, second] = await mill.enqueueMany([
  welcome.of({ to: "a@example.org" }),
  publish.of({ buildId: 8 }, { tenant: "acme" }),
]);
await mill.jobs.cancel(first.id, "asked by the user");
console.log((await mill.jobs.explain(second.id)).sentence);
await mill.pause({ lane: "general" }, "the object store is in maintenance");
await mill.resume({ lane: "general" });
const [letter] = await mill.deadLetters.list({ status: "pending_review" });
if (letter) await mill.deadLetters.reprocess(letter.id, { actor: "grace", notes: "data fixed" });
await worker.stop({ grace: "25s" });
await mill.close();

export const read: readonly unknown[] = [receipt, pages];
