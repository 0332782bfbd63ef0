/** `millrace/testing`: jobs on a real store in memory, with a clock that the test moves. */
// oxlint-disable-next-line import/no-unassigned-import -- It throws on an old Node.
import "../lib/require-node.ts";
export { createTestMill } from "./test-mill.ts";
export type { DrainOptions, TestMill, TestMillOptions } from "./test-mill.ts";
export { perform } from "./perform.ts";
export type { PerformArgs, PerformOptions } from "./perform.ts";
export type { CrashPoint } from "./mortal-store.ts";
export type { ExpectedJob } from "./expect-enqueued.ts";
export type { TestClock } from "./test-clock.ts";
