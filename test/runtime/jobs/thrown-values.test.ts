/** Handlers that throw unexpected values, even values that throw when they are looked at. */
import { defineJob, typed } from "millrace";
import { describe, expect, test } from "vitest";
import { latch, openTest, unchecked } from "../support.ts";

const UNREADABLE = /cannot be read/;
const trap = (): never => {
  throw new Error("from a trap");
};

const THROWN: readonly (readonly [what: string, make: () => unknown, told: RegExp])[] = [
  ["null", () => null, /null was thrown/],
  ["undefined", () => undefined, /undefined was thrown/],
  ["a revoked proxy", revoked, UNREADABLE],
  ["a proxy that hides what it is", () => new Proxy({}, { getPrototypeOf: trap }), UNREADABLE],
  ["a proxy that hides all it has", () => new Proxy({}, { get: trap }), /without a message/],
  ["an error that cannot be asked", withGetters, /without a message/],
];

describe("a handler that throws", () => {
  test.each(THROWN)("%s fails as usual, and its neighbours go on", async (_, make, told) => {
    await using kit = await openTest();
    const end = latch();
    const odd = defineJob({ type: "odd", maxAttempts: 2 }).run(() => {
      throw make();
    });
    const plain = defineJob({ type: "plain" }).run(() => end.passed);
    const beside = await kit.mill.enqueue(plain);
    const job = await kit.mill.enqueue(odd);
    kit.mill.work({ jobs: [odd, plain], lanes: { general: 2 } });

    await kit.advance("1m");
    end.open();
    const after = await kit.mill.enqueue(plain);
    await kit.settled();

    expect(await kit.outcomes(job)).toEqual(["failed", "failed"]);
    const error = { class: "retryable", message: expect.stringMatching(told) };
    expect(await kit.mill.jobs.get(job.id)).toMatchObject({ state: "failed", error });
    expect(await kit.outcomes(beside)).toEqual(["succeeded"]);
    expect(await kit.outcomes(after)).toEqual(["succeeded"]);
  });

  test("something odd after it was asked to end has ended as it was asked to", async () => {
    await using kit = await openTest();
    const odd = defineJob({ type: "odd" }).run(async (_, ctx) => {
      await new Promise((resolve) => ctx.signal.addEventListener("abort", resolve));
      throw revoked();
    });
    const job = await kit.mill.enqueue(odd);
    kit.mill.work({ jobs: [odd] });
    await kit.settled();

    await kit.mill.jobs.cancel(job.id);
    await kit.advance("1s");

    expect(await kit.outcomes(job)).toEqual(["cancelled"]);
  });
});

describe("a handler that returns", () => {
  test.each([
    ["a revoked proxy", revoked],
    ["something with a revoked proxy in it", () => ({ deep: revoked() })],
  ])("%s fails as usual, and frees its slot", async (_, make) => {
    await using kit = await openTest();
    const odd = defineJob({ type: "odd", payload: typed<"odd" | "plain">(), maxAttempts: 1 }).run(
      (what) => unchecked(what === "odd" ? make() : what),
    );
    const [job, next] = await kit.mill.enqueueMany([odd.of("odd"), odd.of("plain")]);

    await kit.drain([odd], { lanes: { general: 1 } });

    expect(await kit.outcomes(job)).toEqual(["failed"]);
    expect(await kit.mill.result(next)).toBe("plain");
  });
});

function revoked(): object {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
}

function withGetters(): Error {
  const error = new Error("hidden");
  for (const name of ["name", "message", "stack", "cause", "~class"]) {
    Object.defineProperty(error, name, { get: trap });
  }
  return error;
}
