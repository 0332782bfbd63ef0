/** What operators may name, when plain JavaScript passes a value that is no target. */
import type { Millrace } from "millrace";
import { expect, test } from "vitest";
import { openTest } from "../support.ts";

const CALLS: Record<string, (mill: Millrace, target: any) => Promise<unknown>> = {
  pause: (mill, target) => mill.pause(target, "audit"),
  resume: (mill, target) => mill.resume(target),
  drain: (mill, target) => mill.drain(target),
  running: (mill, target) => mill.running(target),
  "intake.close": (mill, target) => mill.intake.close(target, "audit"),
  "intake.open": (mill, target) => mill.intake.open(target),
  "limits.set": (mill, target) => mill.limits.set(target, { concurrency: 1 }),
  "limits.remove": (mill, target) => mill.limits.remove(target),
};

test.each(Object.keys(CALLS))("%s refuses a target that is no object", async (verb) => {
  await using kit = await openTest();
  for (const target of [null, undefined, 5, "x", [], {}]) {
    const refused = await CALLS[verb]!(kit.mill, target).catch((error: unknown) => error);
    expect(refused).toMatchObject({ code: "OPTION_INVALID" });
  }
});
