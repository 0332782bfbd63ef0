/** Turns schedules of code into those of the store, and their slots into jobs. */
import type { Schedule, Timing } from "../api/schedule.ts";
import { slotDelay } from "../core/cron/plan.ts";
import { durationMs, instantMs } from "../core/duration.ts";
import type { JobId } from "../core/job.ts";
import type { NewJob } from "../store/types/jobs-and-runs.ts";
import type { ScheduleSpec } from "../store/types/schedules.ts";
import { utf8Bytes } from "../core/text.ts";
import { newJobOf, type JobDefaults } from "./new-job.ts";
import type { PayloadGate } from "./payloads/payload-gate.ts";

type TimingColumns = Omit<ScheduleSpec, "name" | "job">;

/** Synchronous if the schema of the payload is. */
export function scheduleSpecOf(
  { name, when, contract, payload, options }: Schedule,
  defaults: JobDefaults,
): ScheduleSpec | Promise<ScheduleSpec> {
  const request = { contract, payload, options: { createdBy: createdByOf(name), ...options } };
  const specOf = ({ id: _id, due: _due, ...job }: NewJob): ScheduleSpec => {
    return { name, ...timingOf(when), job };
  };
  const job = newJobOf(request, { ...defaults, running: undefined, isScheduled: true });
  return job instanceof Promise ? job.then(specOf) : specOf(job);
}

/** A time with all its defaults. */
export function timingOf(when: Timing): TimingColumns {
  const { cron, timeZone = "UTC", missed = "once", overlap = "queue", jitter, start, end } = when;
  const missedMax = missed === "skip" ? 0 : missed === "once" ? 1 : missed.all;
  return {
    cron: cron.trim(),
    timeZone,
    missedMax,
    overlap,
    jitterMs: jitter === undefined ? 0 : durationMs(jitter, "jitter"),
    startsAt: start === undefined ? null : instantMs(start, "start"),
    endsAt: end === undefined ? null : instantMs(end, "end"),
  };
}

/** The job of a slot. */
export function jobOfSlot(
  { name, jitterMs, job }: ScheduleSpec,
  slot: number,
  newId: () => JobId,
): NewJob {
  return { ...job, id: newId(), due: { at: slot + slotDelay(name, slot, jitterMs) } };
}

/** Names have up to 200 letters, and so have creators. */
function createdByOf(name: string): string {
  return Array.from(`schedule ${name}`).slice(0, 200).join("");
}

/** The job of a schedule that was stored before the rules of today, or the refusal of a rule. */
export function acceptedSlotJob(job: NewJob, payloads: PayloadGate | null): NewJob {
  return payloads === null ? job : payloads.accept(job, utf8Bytes(job.payload ?? ""), true);
}
