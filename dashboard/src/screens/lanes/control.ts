/** Pause, resume and intake, asked for by several screens with the same words. */
import { call } from "../../api/client.ts";
import { toast, toastProblem } from "../../lib/toasts.ts";
import { countText } from "../../lib/format.ts";
import { ask } from "../../parts/dialog.tsx";

export type Paused = "lane" | "type";

/** Running jobs go on; the reason is shown to every job that waits. */
export function askPause(kind: Paused, name: string, done: () => Promise<void>): void {
  ask({
    title: `Pause ${kind} ${name}?`,
    text: `No job of the ${kind} starts until it is resumed. Running jobs go on; no job is lost.`,
    count: 1,
    verb: `Pause ${kind}`,
    keep: "Keep it running",
    reason: "required",
    act: async (reason) => {
      await call("pause", { params: { kind, name }, body: { reason } });
      await done();
    },
  });
}

/** A resume loses nothing, so it is done at once. */
export async function resumeNow(
  kind: Paused,
  name: string,
  done: () => Promise<void>,
): Promise<void> {
  try {
    const { queued, atLeast } = await call("resume", { params: { kind, name } });
    const jobs = countText({ count: queued, atLeast });
    toast({ tone: "good", title: `Resumed ${kind} ${name}`, text: `${jobs} jobs may start.` });
    await done();
  } catch (error) {
    toastProblem(`The ${kind} ${name} was not resumed`, error);
  }
}

export function askCloseIntake(kind: Paused, name: string, done: () => Promise<void>): void {
  ask({
    title: `Close the intake of ${kind} ${name}?`,
    text: `New jobs of the ${kind} are refused. Jobs that exist run to their end.`,
    count: 1,
    verb: "Close intake",
    keep: "Keep it open",
    isDangerous: true,
    reason: "required",
    act: async (reason) => {
      await call("closeIntake", { params: { kind, name }, body: { reason } });
      await done();
    },
  });
}

export async function openIntakeNow(
  kind: Paused,
  name: string,
  done: () => Promise<void>,
): Promise<void> {
  try {
    await call("openIntake", { params: { kind, name } });
    await done();
  } catch (error) {
    toastProblem(`The intake of ${kind} ${name} was not opened`, error);
  }
}
