/** Commands that change something do the same through a server as on its database. */
import { defineJob, typed, type JobView } from "millrace";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { comparable, ServedStore } from "./served-store.ts";
import type { Typed } from "../command-line.ts";

const email = defineJob({ type: "email", payload: typed<{ to: string }>() });
const stuck = defineJob({ type: "stuck", payload: typed<number>() });

let store: ServedStore;
beforeAll(async () => {
  store = await ServedStore.open();
});
afterAll(() => store[Symbol.asyncDispose]());

type Make = () => Promise<string>;
type Words = (id: string) => readonly string[];

const waits: Make = async () => (await store.mill.enqueue(email, { to: "ada" })).id;
const isLate: Make = async () =>
  (await store.mill.enqueue(email, { to: "ada" }, { delay: "1h" })).id;
const failed: Make = async () => {
  const id = await waits();
  await store.mill.jobs.fail(id, "broken");
  return id;
};
const cancelled: Make = async () => {
  const id = await waits();
  await store.mill.jobs.cancel(id);
  return id;
};
const BANK = ["--notes", "the bank is back"];

const CHANGES: readonly { readonly code: number; readonly make: Make; readonly words: Words }[] = [
  { code: 0, make: waits, words: (id) => ["jobs", "cancel", id, "--reason", "not needed"] },
  { code: 0, make: waits, words: (id) => ["jobs", "cancel", id] },
  { code: 1, make: failed, words: (id) => ["jobs", "cancel", id] },
  { code: 2, make: waits, words: (id) => ["jobs", "cancel", id.slice(0, 8)] },
  { code: 0, make: isLate, words: (id) => ["jobs", "retry", id] },
  { code: 0, make: failed, words: (id) => ["jobs", "retry", id, "--restart"] },
  { code: 0, make: waits, words: (id) => ["jobs", "fail", id, "--message", "blocked"] },
  { code: 0, make: waits, words: (id) => ["jobs", "fail", id, "--retry"] },
  { code: 1, make: cancelled, words: (id) => ["jobs", "fail", id] },
  { code: 1, make: waits, words: (id) => ["jobs", "release", id] },
  { code: 1, make: failed, words: (id) => ["jobs", "release", id, "--force"] },
  { code: 0, make: failed, words: (id) => ["dlq", "acknowledge", id] },
  { code: 0, make: failed, words: (id) => ["dlq", "acknowledge", id, "--notes", "seen"] },
  { code: 0, make: failed, words: (id) => ["dlq", "discard", id, ...BANK] },
  { code: 0, make: failed, words: (id) => ["dlq", "reprocess", id, ...BANK] },
  {
    code: 0,
    make: failed,
    words: (id) => ["dlq", "reprocess", id, "--payload", '{"to":"grace"}', ...BANK],
  },
  { code: 1, make: waits, words: (id) => ["dlq", "acknowledge", id] },
];

describe("through a server, as on its database", () => {
  test.each(CHANGES.map((change) => ({ ...change, name: change.words("ID").join(" ") })))(
    "millrace $name ends with $code, the same output and the same job",
    async ({ code, make, words }) => {
      const [one, other] = [await make(), await make()];
      const local = await store.local(...words(one));
      const remote = await store.remote(...words(other));

      expect(masked(remote, other)).toEqual(masked(local, one));
      expect(remote.code).toBe(code);
      expect(await standing(other)).toEqual(await standing(one));
    },
  );

  test("pause, pauses and resume, of each kind", async () => {
    for (const target of [
      ["--type", "email"],
      ["--lane", "fast"],
      ["--tenant", "a/b ü"],
    ]) {
      const words = ["pause", ...target, "--reason", "the bank is down"];
      const local = [await store.local(...words), await store.local("resume", ...target)];
      const remote = [await store.remote(...words)];
      const [pause] = await store.mill.pauses();
      remote.push(await store.remote("resume", ...target));

      expect(remote.map((each) => each.out)).toEqual(local.map((each) => each.out));
      expect(pause).toMatchObject({ name: target[1], reason: "the bank is down", pausedBy: "ada" });
      expect(await store.mill.pauses()).toEqual([]);
      const again = await store.both("resume", ...target);
      expect(again.remote).toEqual(again.local);
    }
  });

  test("a pause as JSON names the person of the token", async () => {
    const { out } = await store.remote("pause", "--type", "email", "-o", "json");
    await store.remote("resume", "--type", "email");

    expect(JSON.parse(out)).toMatchObject({ type: "email", paused: true, pausedBy: "ada" });
  });

  test("a running job is cancelled, and released only with --force", async () => {
    const job = await store.mill.enqueue(stuck, 1);
    const hanging = stuck.run(
      (_, ctx) =>
        new Promise<void>((_resolve, reject) => {
          ctx.signal.addEventListener("abort", () => reject(new Error("stopped")), { once: true });
        }),
    );
    const worker = store.mill.work({ jobs: [hanging] });
    await expect.poll(async () => (await store.mill.jobs.get(job.id)).state).toBe("running");

    const { local, remote } = await store.both("jobs", "release", job.id);
    const forced = await store.remote("jobs", "release", job.id, "--force");
    await expect.poll(async () => (await store.mill.jobs.get(job.id)).state).toBe("running");
    const cancel = await store.remote("jobs", "cancel", job.id, "--reason", "enough");
    const { state } = await store.mill.wait(job);
    await worker.stop();

    expect(remote).toEqual(local);
    expect(remote).toMatchObject({ code: 1, err: expect.stringContaining("RUN_HEALTHY") });
    expect(forced).toMatchObject({ code: 0, out: `${job.id} is queued.\n` });
    expect(cancel.out).toBe(`${job.id} is running and has been asked to stop.\n`);
    expect(state).toBe("cancelled");
  });

  test("workers are listed, quieted, resumed and stopped, by parts of their ids", async () => {
    // No heartbeat comes between the commands, which would stop the worker.
    const settings = { jobs: [stuck.run(() => 1)], lease: "1h" } as const;
    const [one, other] = [0, 1].map(() => store.mill.work(settings));
    await Promise.all([one!.ready, other!.ready]);
    const listed = await store.both("workers", "list", "-o", "json");
    const found: { id: string }[] = JSON.parse(
      (await store.remote("workers", "list", "-o", "json")).out,
    );
    const [a = "", b = ""] = found.map(({ id }) => id);

    expect(listed.remote).toEqual(listed.local);
    for (const verb of ["quiet", "resume", "stop"]) {
      const local = await store.local("workers", verb, a);
      const remote = await store.remote("workers", verb, b.slice(0, 25));
      expect(comparable(remote, b)).toEqual(comparable(local, a));
      expect(remote.code).toBe(0);
    }
    expect(await store.mill.workers.list()).toMatchObject([
      { isQuiet: true, isStopping: true },
      { isQuiet: true, isStopping: true },
    ]);
    const unknown = await store.both("workers", "stop", "01JCR5M4X2E8T9V6B3N7K0QWAZ");
    expect(unknown.remote).toEqual(unknown.local);
    expect(unknown.remote.code).toBe(1);
    await Promise.all([one!.stop(), other!.stop()]);
  });

  test("tokens are created, used and revoked", async () => {
    const scope = ["--kind", "producer", "--type", "email", "--tenant", "acme", "--ttl", "1h"];
    const words = ["token", "create", "web shop", ...scope, "-o", "json"];
    const made = [await store.local(...words), await store.remote(...words)].map(({ out }) =>
      JSON.parse(out),
    );
    const [local, remote] = made;
    const known = await store.mill.tokens.verify(remote.secret);
    const revoke = await store.remote("token", "revoke", remote.token.id);

    expect(Object.keys(remote.token)).toEqual(Object.keys(local.token));
    expect(known).toMatchObject({ kind: "producer", types: ["email"], createdBy: "ada" });
    expect(revoke).toMatchObject({ code: 0, err: `Token ${remote.token.id} is revoked.\n` });
    expect(await store.mill.tokens.verify(remote.secret)).toBeNull();
  });

  test("millrace drain takes the place of a pause because of crashes", async () => {
    // What the engine writes.
    await store.mill.pause({ type: "crashing" }, "3 deaths", { actor: "millrace" });

    const words = ["drain", "--type", "crashing", "--reason", "a deploy", "-o", "json"];
    const { out } = await store.remote(...words);

    expect(JSON.parse(out)).toMatchObject({ drained: true, keptPause: null });
    const pauses = await store.mill.pauses();
    expect(pauses.find(({ name }) => name === "crashing")).toMatchObject({ reason: "a deploy" });
  });
});

/** Without ids, which differ, and instants of a change. */
function masked(output: Typed, id: string): Typed {
  const shown = comparable(output, id);
  return { ...shown, out: shown.out.replaceAll(/\b[0-9A-Z]{26}\b/g, "SUCCESSOR") };
}

/** What both ways must leave behind. */
async function standing(id: string): Promise<object> {
  const { mill } = store;
  const facts = ({ state, attempts, error, cancelReason }: JobView): object => ({
    state,
    attempts,
    error,
    cancelReason,
  });
  const job = await mill.jobs.get(id);
  const letter = await mill.deadLetters.get(id).catch(() => null);
  const successor =
    typeof letter?.successorId === "string" ? await mill.jobs.get(letter.successorId) : null;
  return {
    ...facts(job),
    letter: letter === null ? null : { status: letter.status, notes: letter.notes },
    successor: successor === null ? null : { ...facts(successor), payload: successor.payload },
  };
}
