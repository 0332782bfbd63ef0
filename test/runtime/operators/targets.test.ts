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
