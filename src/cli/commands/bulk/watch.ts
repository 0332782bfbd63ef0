/** Shows the progress of an operation until it has ended, and what Ctrl-C does meanwhile. */
import type { Operation } from "../../../api/control/operations.ts";
import { within } from "../../../core/clock.ts";
import { systemClock } from "../../../lib/system.ts";
import { LiveArea } from "../../follow/live-area.ts";
import type { OperatorMill } from "../../operator-mill.ts";
import { EXIT, type ExitCode } from "../../terminal/exit-codes.ts";
import { listenForInterrupt } from "../../terminal/stop-signal.ts";
import type { Terminal } from "../../terminal/terminal.ts";

const POLL_MS = 300;

/** Resolves with the operation when it has ended, or when the user leaves it running. */
export async function watchOperation(
  mill: OperatorMill,
  id: string,
  actor: string,
  terminal: Terminal,
): Promise<Operation> {
  const area = terminal.screen === undefined ? null : new LiveArea(terminal.screen);
  const began = systemClock.monotonic();
  const interrupt = listenForInterrupt();
  const interrupted = new Promise<void>((resolve) => {
    interrupt.signal.addEventListener("abort", () => resolve(), { once: true });
  });
  let first: Operation | null = null;
  try {
    for (;;) {
      const now = await mill.operations.get(id);
      first ??= now;
      area?.draw([progressLine(now, now.items - first.items, systemClock.monotonic() - began)]);
      if (now.finishedAt !== null) return now;
      if (interrupt.signal.aborted) return await onInterrupt(mill, now, actor, terminal);
      await within(systemClock, POLL_MS, interrupted);
    }
  } finally {
    area?.end();
    interrupt.stop();
  }
}

/** A second Ctrl-C during the question leaves the operation running. */
async function onInterrupt(
  mill: OperatorMill,
  operation: Operation,
  actor: string,
  { ask }: Terminal,
): Promise<Operation> {
  const again = listenForInterrupt();
  try {
    const question = ask?.("\nStop the operation? No leaves it running. [y/N] ", again.signal);
    const answer = (await question?.catch(() => "")) ?? "";
    if (!/^y(es)?$/i.test(answer.trim())) return operation;
    return await mill.operations.stop(operation.id, { actor });
  } finally {
    again.stop();
  }
}

function progressLine(operation: Operation, items: number, ms: number): string {
  const { done, failed, expected, expectedAtLeast } = operation;
  const skipped = Object.values(operation.skipped).reduce((sum, count) => sum + count, 0);
  const total = expectedAtLeast ? `${expected}+` : String(Math.max(expected, operation.items));
  const rate = ms < 1_000 ? "" : `, ${Math.round((items * 1_000) / ms)}/s`;
  const left = skipped > 0 ? `, ${skipped} skipped` : "";
  const broken = failed > 0 ? `, ${failed} failed` : "";
  return `${operation.action}: ${done} of ${total} done${rate}${left}${broken}`;
}

/** How the operation ended, as a sentence. */
export function endLine(operation: Operation): string {
  const { id, status, done, failed, skipped, error } = operation;
  const reasons = Object.entries(skipped).map(([reason, count]) => `${count} ${reason}`);
  const parts = [
    `${done} done`,
    ...(failed > 0 ? [`${failed} failed`] : []),
    ...(reasons.length > 0 ? [`skipped: ${reasons.join(", ")}`] : []),
  ];
  const why = error === null ? "" : ` ${error.name}: ${error.message}.`;
  return `Operation ${id} is ${status}: ${parts.join(", ")}.${why}`;
}

export function exitCodeOf({ status, failed }: Operation): ExitCode {
  if (status === "completed") return failed > 0 ? EXIT.completedWithErrors : EXIT.success;
  if (status === "stopped") return EXIT.cancelled;
  return status === "failed" ? EXIT.broken : EXIT.interrupted;
}
