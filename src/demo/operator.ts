/** What two people have arranged in the installation of the demo, and what they do at times. */
import { schedule } from "../index.ts";
import type { Millrace } from "../index.ts";
import { email, invoice, report } from "./jobs.ts";

const ADA = { actor: "ada" };
const GRACE = { actor: "grace" };

/** Safe to repeat: each start of the demo arranges the same. */
export async function arrange(mill: Millrace): Promise<void> {
  await mill.limits.set({ type: "demo.thumbnail" }, { concurrency: 4 }, GRACE);
  await mill.limits.set({ tenant: "umbra" }, { rate: { limit: 600, per: "1m" } }, ADA);
  const quota = { waiting: 5_000, rate: { limit: 1_000, per: "1m" } } as const;
  await mill.tenants.setQuota("acme", quota, { ...ADA, reason: "contract 2026-07" });
  await saveViews(mill);
  await storeSchedules(mill);
  await issueTokens(mill);
}

/** Letters of one customer are read through, one every two seconds. */
export async function reviewLetters(mill: Millrace): Promise<void> {
  const deadLetters = { status: "pending_review", tenant: "acme", type: invoice.type } as const;
  await mill.operations.start(
    { action: "acknowledge", deadLetters },
    { ...GRACE, reason: "billing looks into them", rate: "30/m", chunk: 1 },
  );
}

async function saveViews(mill: Millrace): Promise<void> {
  const failed = "type:demo.invoice state:failed";
  const slow = "type:demo.thumbnail state:running";
  await mill.views.save({ name: "Failed invoices", screen: "jobs", query: failed }, ADA);
  await mill.views.save({ name: "Slow thumbnails", screen: "jobs", query: slow }, GRACE);
}

async function storeSchedules(mill: Millrace): Promise<void> {
  const known = new Set((await mill.schedules.list()).map(({ name }) => name));
  const monthly = { cron: "30 6 1 * *", timeZone: "Europe/Berlin" };
  const weekdays = { cron: "0 9 * * 1-5", timeZone: "America/New_York" };
  if (!known.has("monthly report")) {
    const stored = schedule("monthly report", monthly, report, { month: "2026-11" });
    await mill.schedules.create(stored, GRACE);
  }
  if (!known.has("weekday greeting")) {
    const stored = schedule("weekday greeting", weekdays, email, { to: "team@example.com" });
    await mill.schedules.create(stored, ADA);
    await mill.schedules.pause("weekday greeting", "holidays until Monday", GRACE);
  }
}

/** The secrets are shown to no person, so the tokens open nothing. */
async function issueTokens(mill: Millrace): Promise<void> {
  const known = new Set((await mill.tokens.list()).map(({ name }) => name));
  if (!known.has("grace")) {
    await mill.tokens.create({ kind: "person", name: "grace", roles: ["operator"] }, ADA);
  }
  if (!known.has("web shop")) {
    const types = [invoice.type, email.type];
    await mill.tokens.create({ kind: "producer", name: "web shop", types, tenant: "acme" }, ADA);
  }
}
