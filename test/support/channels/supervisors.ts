/** How supervisors behave, on either store: the same tests, in virtual or in real time. */
import {
  defineJob,
  NonRetryableError,
  TransientError,
  typed,
  type AnyJob,
  type JobRef,
  type JobView,
  type Millrace,
} from "millrace";
import { dbFunction, defineChannel, defineSupervisor } from "millrace/channels";
import { describe, expect, test } from "vitest";

export interface SupervisorKit extends AsyncDisposable {
  readonly mill: Millrace;
  /** Runs these jobs until the job is final. */
  finish(job: JobRef<unknown>, jobs: readonly AnyJob[]): Promise<JobView>;
}

/** A provider that fails as often as told, and what it was sent. */
export function unsteadyChannel(
  failures: readonly Error[],
  failureOf = (_message: any, n: number): Error | undefined => failures[n - 1],
) {
  const sent: any[] = [];
  const push = defineChannel({
    type: "push",
    send: (message) => {
      sent.push(message);
      const error = failureOf(message, sent.length);
      if (error !== undefined) throw error;
      return { id: `p${sent.length}` };
    },
  });
  return { push, sent };
}

const hungUp = (): Error => new TransientError("the provider hung up");

const task = typed<{ user: number }>();
const backoff = { kind: "exponential", base: 100 } as const;

type OpenKit = () => Promise<SupervisorKit>;

export function supervisorBehaviour(open: OpenKit): void {
  describe("a supervisor", () => {
    endsAsItsAttempts(open);
  });
  describe("the attempts of a supervisor", () => {
    readsItsAttempts(open);
  });
}

function endsAsItsAttempts(open: OpenKit): void {
  test("ends with its first success, and calls onSuccess (002-24, 002-34)", async () => {
    await using kit = await open();
    const { push, sent } = unsteadyChannel([hungUp()]);
    const told: unknown[] = [];
    const welcome = defineSupervisor({
      type: "welcome",
      task: typed<{ user: number }>(),
      backoff,
      attempt: ({ user }, n) => push.of({ user, n }),
      onSuccess: (...args) => void told.push(args.slice(0, 2)),
      onStuck: () => void told.push("stuck"),
    });
    const job = await kit.mill.enqueue(welcome, { user: 7 });

    const ended = await kit.finish(job, [welcome, push]);

    const success = { attempts: 2, result: { id: "p2" } };
    expect(ended).toMatchObject({
      state: "completed",
      result: { status: "succeeded", payload: success },
    });
    expect(told).toEqual([[{ user: 7 }, success]]);
    expect(sent).toEqual([
      { user: 7, n: 1 },
      { user: 7, n: 2 },
    ]);
    expect(await namesOf(kit.mill)).toEqual(["push", "push", "welcome"]);
  });

  test("is stuck after its last attempt, with the message (002-24, 002-34)", async () => {
    await using kit = await open();
    const { push, sent } = unsteadyChannel([hungUp(), hungUp(), hungUp(), hungUp()]);
    const told: unknown[] = [];
    const welcome = defineSupervisor({
      type: "welcome",
      task: typed<{ user: number }>(),
      maxAttempts: 3,
      backoff,
      channel: push,
      onStuck: (...args) => void told.push(args.slice(0, 2)),
    });
    const job = await kit.mill.enqueue(welcome, { user: 7 });

    const ended = await kit.finish(job, [welcome, push]);

    const stuck = { attempts: 3, message: "the provider hung up" };
    expect(ended).toMatchObject({
      state: "completed",
      result: { status: "stuck", error: "the provider hung up", payload: { attempts: 3 } },
    });
    expect(told).toEqual([[{ user: 7 }, stuck]]);
    expect(sent).toHaveLength(3);
  });
}

function readsItsAttempts(open: OpenKit): void {
  test("makes no further attempt after a failure that none can heal (C-12)", async () => {
    await using kit = await open();
    const { push, sent } = unsteadyChannel([new NonRetryableError("no such device")]);
    const welcome = defineSupervisor({ type: "welcome", task, channel: push, backoff });
    const job = await kit.mill.enqueue(welcome, { user: 7 });
    const ended = await kit.finish(job, [welcome, push]);
    expect(ended).toMatchObject({ result: { status: "stuck", error: "no such device" } });
    expect(sent).toHaveLength(1);
  });

  test("begins once for one idempotency key", async () => {
    await using kit = await open();
    const { push, sent } = unsteadyChannel([]);
    const welcome = defineSupervisor({ type: "welcome", task, channel: push, backoff });
    const key = { idempotencyKey: "welcome 7" };
    const [first, second] = await Promise.all([
      kit.mill.enqueue(welcome, { user: 7 }, key),
      kit.mill.enqueue(welcome, { user: 7 }, key),
    ]);
    expect(second.id).toBe(first.id);
    await kit.finish(first, [welcome, push]);
    expect(sent).toHaveLength(1);
  });

  test("reads the outcomes of jobs, functions and other supervisors", async () => {
    await using kit = await open();
    let calls = 0;
    const plain = defineJob({ type: "plain", maxAttempts: 1 }).run(() => {
      calls += 1;
      if (calls === 1) throw new Error("down");
      return { status: "a word of its own" };
    });
    const work = dbFunction({ maxAttempts: 1 });
    const inner = defineSupervisor({ type: "inner", channel: plain, backoff, maxAttempts: 1 });
    const outer = defineSupervisor({
      type: "outer",
      backoff,
      attempt: (_, n) => (n === 2 ? work.of({ db_function: "no.such" }) : inner.of()),
    });
    const job = await kit.mill.enqueue(outer);

    const ended = await kit.finish(job, [outer, inner, plain, dbFunction({ maxAttempts: 1 })]);

    const innermost = { attempts: 1, result: { status: "a word of its own" } };
    expect(ended.result).toMatchObject({
      status: "succeeded",
      payload: { attempts: 3, result: innermost },
    });
  });
}

/** The types of all jobs, in the order of the alphabet. */
export async function namesOf(mill: Millrace): Promise<readonly string[]> {
  return (await mill.jobs.list()).jobs.map(({ type }) => type).toSorted();
}
