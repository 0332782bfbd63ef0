/**
 * A producer process. Takes {@link ProducerSettings} as JSON, says `ready`, and enqueues call after
 * call until SIGTERM. What it asks with a key it notes before, so that the next process on its seat
 * asks again after its death; what it was promised it notes after. Ends when its parent does.
 */
import { existsSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { MillraceError } from "millrace";
import type { Ack, Cancel } from "../show/lib/fleet/history.ts";
import { endWithParent } from "../show/lib/fleet/end-with-parent.ts";
import { AppendLog, readAcks } from "../show/lib/fleet/ledger.ts";
import { openPatiently } from "../show/lib/fleet/open-patiently.ts";
import { pipeline, task } from "../show/lib/fleet/task.ts";
import { seededDice } from "../../test/support/seeded-dice.ts";
import { makeWishes } from "./wishes.ts";
import type { ProducerSettings, Wish } from "./wishes.ts";

/** Waiting jobs beyond which a producer rests. */
const CROWD = 60;
const RECENT_MAX = 20;

const settings: ProducerSettings = JSON.parse(process.argv[2] ?? "{}");
endWithParent();
const over = new AbortController();
process.once("SIGTERM", () => over.abort());

const dice = seededDice(settings.seed);
const acks = new AppendLog(settings.acks);
const asked = new AppendLog(settings.asked);
const cancels = new AppendLog(settings.cancels);
const refused = new AppendLog(settings.refused);
const mill = await openPatiently(settings.url, { preset: settings.preset });
const wishes = makeWishes(settings.name, dice);
/** Wishes with keys that are not known to have come true. */
let owed: readonly Wish[] = unanswered();
const answered: Wish[] = [];
/** The newest jobs, which others may run after. */
const recent: string[] = [];
console.log("ready");

while (!over.signal.aborted) {
  if (await isCrowded()) {
    await sleep(settings.restMs);
    continue;
  }
  const again = answered.filter(() => dice.random() < 0.05).slice(0, 1);
  const call = [...owed.slice(0, 5), ...again, ...wishes.next(recent)];
  owed = [...owed.slice(5), ...(await ask(call))];
  await sleep(dice.random() * settings.restMs);
}
for (let round = 0; owed.length > 0 && round < 3; round += 1) owed = await ask(owed);
await mill.close();

/** A backlog that grows would hide how soon the fleet works again. */
async function isCrowded(): Promise<boolean> {
  const stats = await mill.jobs.stats().catch(() => null);
  return stats !== null && stats.queued > CROWD;
}

/** Answers the wishes that must be asked for again. */
async function ask(call: readonly Wish[]): Promise<readonly Wish[]> {
  const keyed = call.filter(({ isKeyed }) => isKeyed);
  for (const wish of keyed) asked.append(JSON.stringify(wish));
  const sentAt = Date.now();
  try {
    const jobs = await mill.enqueueMany(call.map(requestOf));
    const at = Date.now();
    for (const [index, { id }] of jobs.entries()) note(call[index]!, id, sentAt, at);
    answered.push(...keyed);
    recent.push(...jobs.map(({ id }) => id));
    recent.splice(0, recent.length - RECENT_MAX);
    const unwanted = jobs.filter((_, index) => call[index]?.isUnwanted === true);
    await Promise.all(unwanted.map(({ id }) => cancel(id)));
    return [];
  } catch (error) {
    refused.append(JSON.stringify({ at: Date.now(), error: String(error) }));
    return keyed;
  }
}

function requestOf({ task: payload, delayMs, isKeyed }: Wish) {
  const { lock, after = [], onFailed, units } = payload;
  const contract = units === undefined ? task : pipeline;
  return contract.of(payload, {
    ...(delayMs > 0 && { delay: delayMs }),
    ...(isKeyed && { idempotencyKey: payload.name }),
    ...(lock !== undefined && { concurrencyKey: lock }),
    ...(after.length > 0 && { after: after.map((id) => ({ id, type: "any" })) }),
    ...(onFailed !== undefined && { onFailed }),
  });
}

function note({ task: { name }, isKeyed, delayMs }: Wish, id: string, sentAt: number, at: number) {
  const ack: Ack = {
    id,
    at,
    ...(isKeyed && { key: name }),
    // One that is asked for again was due by its first call.
    ...(delayMs > 0 && !isKeyed && { dueAt: sentAt + delayMs }),
  };
  acks.append(JSON.stringify(ack));
}

async function cancel(id: string): Promise<void> {
  await sleep(dice.random() * 40);
  cancels.append(JSON.stringify({ id, at: Date.now() } satisfies Cancel));
  try {
    const { state } = await mill.jobs.cancel(id);
    cancels.append(JSON.stringify({ id, at: Date.now(), state } satisfies Cancel));
  } catch (error) {
    // It was quicker: that is an answer, and no refusal.
    if (error instanceof MillraceError && error.code === "JOB_OVER") return;
    refused.append(JSON.stringify({ at: Date.now(), error: String(error) }));
  }
}

/** What the process before had asked for with a key, and was not promised. */
function unanswered(): readonly Wish[] {
  if (!existsSync(settings.asked)) return [];
  const promised = new Set(readAcks(settings.acks).map(({ key }) => key));
  const all = readFileSync(settings.asked, "utf8").split("\n").filter(Boolean);
  const open = all
    .map((line): Wish => JSON.parse(line))
    .filter(({ task: { name } }) => !promised.has(name));
  return [...new Map(open.map((wish) => [wish.task.name, wish])).values()];
}
