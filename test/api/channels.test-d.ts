/** Compile-time tests of `millrace/channels`: see `api.test-d.ts`. */
import { defineJob, openMillrace, typed } from "millrace";
import { dbFunction, defineChannel, defineSupervisor, emailChannel } from "millrace/channels";

const mill = await openMillrace();
const push = defineChannel({ type: "push", send: () => ({ id: 1 }) });
const strict = defineJob({ type: "strict", payload: typed<{ user: number }>() }).run(() => 1);
const plain = defineJob({ type: "plain" }).run(() => 1);

interface Order {
  readonly id: number;
  readonly lines: readonly string[];
}
declare const order: Order;

// ── Tasks ────────────────────────────────────────────────────────────────────────────────────────
await mill.enqueue(push, { order, before_handler: "push.message" });
await mill.enqueue(dbFunction(), { db_function: "orders.close", order });
// @ts-expect-error the name of a handler is a text
await mill.enqueue(push, { before_handler: 5 });
// @ts-expect-error a function task names its function
await mill.enqueue(dbFunction(), { order });

// ── Channels ─────────────────────────────────────────────────────────────────────────────────────
emailChannel({
  smtp: "smtp://127.0.0.1",
  from: { name: "Mill", address: "a@example.com" },
  sendTimeout: "90s",
});

// ── Supervisors ──────────────────────────────────────────────────────────────────────────────────
const task = typed<{ user: number }>();
defineSupervisor({ type: "a", task, channel: strict });
defineSupervisor({ type: "b", task, channel: push });
defineSupervisor({ type: "c", task: typed<Order>(), channel: push });
defineSupervisor({ type: "d", channel: plain });
const inner = defineSupervisor({ type: "e", task, attempt: ({ user }, n) => push.of({ user, n }) });
defineSupervisor({ type: "f", task, channel: inner });
await mill.enqueue(inner, { user: 7 });
// @ts-expect-error the task has another type
await mill.enqueue(inner, { user: "seven" });
// @ts-expect-error there is no task that could be the payload
defineSupervisor({ type: "g", channel: push });
// @ts-expect-error the payload of a channel is an object
defineSupervisor({ type: "h", task: typed<number>(), channel: push });
// @ts-expect-error the job has another payload
defineSupervisor({ type: "i", task: typed<{ other: string }>(), channel: strict });
// @ts-expect-error the attempts are made in one way
defineSupervisor({ type: "j", task, channel: strict, attempt: () => strict.of({ user: 1 }) });
// @ts-expect-error and in no way there is none
defineSupervisor({ type: "k", task });
