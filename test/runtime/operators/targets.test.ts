/** What operators may name, when plain JavaScript passes a value that is no target. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { Millrace } from "millrace";
import { expect, test } from "vitest";
import { remoteMill } from "../../../src/remote/remote-mill.ts";
import { openTest } from "../support.ts";

type Operators = Pick<Millrace, "pause" | "resume" | "drain" | "running" | "intake" | "limits">;

const CALLS: Record<string, (mill: Operators, target: any) => Promise<unknown>> = {
  pause: (mill, target) => mill.pause(target, "audit"),
  resume: (mill, target) => mill.resume(target),
  drain: (mill, target) => mill.drain(target),
  running: (mill, target) => mill.running(target),
  "intake.close": (mill, target) => mill.intake.close(target, "audit"),
  "intake.open": (mill, target) => mill.intake.open(target),
  "limits.set": (mill, target) => mill.limits.set(target, { concurrency: 1 }),
  "limits.remove": (mill, target) => mill.limits.remove(target),
};

/** An array and an empty object name nothing; names in a path cannot be dots. */
const NO_TARGETS: readonly unknown[] = [
  null,
  undefined,
  5,
  "x",
  [],
  {},
  { installation: false },
  { type: "email", tenant: "acme" },
  { type: 5 },
  { type: "" },
  { type: ".." },
  { colour: "red" },
  { key: "a", type: "b" },
];

test.each(Object.keys(CALLS))("%s refuses values that are no target", async (verb) => {
  await using kit = await openTest();
  for (const target of NO_TARGETS) {
    const refused = await CALLS[verb]!(kit.mill, target).catch((error: unknown) => error);
    expect({ target, refused }).toMatchObject({ refused: { code: "OPTION_INVALID" } });
  }
});

test.each(Object.keys(CALLS))(
  "%s of a server refuses the same, and sends nothing",
  async (verb) => {
    let requests = 0;
    await using server = await listening(() => (requests += 1));
    const mill = remoteMill({ url: server.url, token: null });
    const dots = verb.startsWith("limits") ? [{ key: "" }, { key: ".." }] : [];
    for (const target of [...NO_TARGETS, ...dots]) {
      const refused = await CALLS[verb]!(mill, target).catch((error: unknown) => error);
      expect({ target, refused }).toMatchObject({ refused: { code: "OPTION_INVALID" } });
    }
    expect(requests).toBe(0);
  },
);

type Named = Pick<Millrace, "breakers" | "schedules" | "fairness" | "types" | "workers" | "drain">;

const NAMING: Record<string, (mill: Named, name: any) => Promise<unknown>> = {
  "breakers.get": ({ breakers }, name) => breakers.get(name),
  "breakers.forceOpen": ({ breakers }, name) => breakers.forceOpen(name, "audit"),
  "breakers.reset": ({ breakers }, name) => breakers.reset(name),
  "breakers.history": ({ breakers }, name) => breakers.history(name),
  "schedules.get": ({ schedules }, name) => schedules.get(name),
  "schedules.pause": ({ schedules }, name) => schedules.pause(name, "audit"),
  "schedules.resume": ({ schedules }, name) => schedules.resume(name),
  "schedules.runNow": ({ schedules }, name) => schedules.runNow(name),
  "schedules.remove": ({ schedules }, name) => schedules.remove(name),
  "schedules.history": ({ schedules }, name) => schedules.history(name),
  "fairness.set": ({ fairness }, name) => fairness.set(name),
  "fairness.remove": ({ fairness }, name) => fairness.remove(name),
  "types.override": ({ types }, name) => types.override(name, { priority: 5 }),
  "types.reset": ({ types }, name) => types.reset(name),
  "workers.quiet": ({ workers }, name) => workers.quiet(name),
  "workers.resume": ({ workers }, name) => workers.resume(name),
  "workers.stop": ({ workers }, name) => workers.stop(name),
  "drain a worker": (mill, worker) => mill.drain({ worker }),
};

/** A URL drops the first three from a path. */
const NO_NAMES: readonly unknown[] = ["", ".", "..", null, 5, "x".repeat(300)];

test.each(Object.keys(NAMING))(
  "%s of a server refuses what cannot be a name as the library does, and sends nothing",
  async (verb) => {
    await using kit = await openTest();
    let requests = 0;
    await using server = await listening(() => (requests += 1));
    const remote = remoteMill({ url: server.url, token: null });
    for (const name of NO_NAMES) {
      const [own, over] = [kit.mill, remote].map((mill) =>
        NAMING[verb]!(mill, name).catch((error: unknown) => error),
      );
      const { code, message }: any = await own;
      expect(["OPTION_INVALID", "ID_INVALID"]).toContain(code);
      expect(await over).toMatchObject({ code, message });
    }
    expect(requests).toBe(0);
  },
);

test("no name in a path to a server is one that a URL drops", async () => {
  let requests = 0;
  await using server = await listening(() => (requests += 1));
  const { tokens } = remoteMill({ url: server.url, token: null });
  for (const id of ["", ".", ".."]) {
    await expect(tokens.revoke(id)).rejects.toMatchObject({ code: "OPTION_INVALID" });
  }
  expect(requests).toBe(0);
});

async function listening(
  onRequest: () => void,
): Promise<AsyncDisposable & { readonly url: string }> {
  const server = createServer((_, response) => {
    onRequest();
    response.end("{}");
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const address = server.address();
  assert.ok(address !== null && typeof address === "object");
  return {
    url: `http://127.0.0.1:${address.port}`,
    async [Symbol.asyncDispose]() {
      await once(server.close(), "close");
    },
  };
}
