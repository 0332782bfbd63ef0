import { type as ark } from "arktype";
import * as v from "valibot";
import { describe, expect, test, vi } from "vitest";
import { z } from "zod";
import { MillraceError } from "../core/errors.ts";
import { defineJob, typed } from "./define.ts";
import { definitionOf, requestOf } from "./definition.ts";

const one = () => 1;
const two = () => 2;

describe("a contract", () => {
  test("bears its type and cannot be changed", () => {
    const contract = defineJob({ type: "email" });

    expect(contract.type).toBe("email");
    expect(Object.isFrozen(contract)).toBe(true);
  });

  test("shows its definition to the runtime and to no listing", () => {
    const schema = typed<{ to: string }>();
    const contract = defineJob({ type: "email", payload: schema, lane: "fast", maxAttempts: 3 });

    expect(definitionOf(contract)).toEqual({
      type: "email",
      schema,
      settings: { lane: "fast", maxAttempts: 3 },
      body: { kind: "none" },
    });
    expect(Object.keys(contract)).toEqual(["type", "of", "using", "run", "phase"]);
  });

  test("is understood by another installed copy of the package", async () => {
    const contract = defineJob({ type: "email" });

    vi.resetModules();
    const copy = await import("./definition.ts");

    expect(copy.definitionOf).not.toBe(definitionOf);
    expect(copy.definitionOf(contract)).toBe(definitionOf(contract));
  });

  test("keeps its settings when the caller's objects change afterwards", () => {
    const backoff = { kind: "fixed", base: "2s" as const, cap: "1m" as const } as const;
    const settings = { type: "charge", backoff: { ...backoff } };
    const contract = defineJob(settings);

    Object.assign(settings.backoff, { base: "9s" });

    expect(definitionOf(contract).settings).toEqual({ backoff });
    expect(Object.isFrozen(definitionOf(contract).settings.backoff)).toBe(true);
  });

  test("takes a setting that is undefined for one that is absent", () => {
    const settings: object = { lane: undefined, payload: undefined };

    expect(defineJob({ type: "email", ...settings }).type).toBe("email");
  });

  test("takes a schema of every library that follows the standard", () => {
    const schemas = [
      z.object({ n: z.number() }),
      v.object({ n: v.number() }),
      ark({ n: "number" }),
      typed<{ n: number }>(),
    ];

    for (const payload of schemas) {
      expect(definitionOf(defineJob({ type: "n", payload })).schema).toBe(payload);
    }
  });

  test("makes requests that keep contract, payload and options", () => {
    const contract = defineJob({ type: "email", payload: typed<{ to: string }>() });
    const payload = { to: "ada@example.org" };

    const request = contract.of(payload, { delay: "5m" });

    expect(request).toEqual({ type: "email" });
    expect(requestOf(request)).toEqual({ contract, payload, options: { delay: "5m" } });
    expect(requestOf(request).payload).toBe(payload);
    expect(Object.isFrozen(request)).toBe(true);
  });

  test("makes a request without payload and options where the job has none", () => {
    const contract = defineJob({ type: "tick" });

    expect(requestOf(contract.of())).toEqual({ contract, payload: undefined, options: {} });
  });
});

describe("a job", () => {
  test("made with run has one handler and no phases", () => {
    const contract = defineJob({ type: "email", lane: "fast" });
    const job = contract.using<{ mail: string }>().run(one);

    expect(job.phases).toEqual([]);
    expect(Object.isFrozen(job)).toBe(true);
    expect(definitionOf(job)).toEqual({
      ...definitionOf(contract),
      body: { kind: "handler", handler: one },
    });
  });

  test("made with phases has them in the order written", () => {
    const job = defineJob({ type: "p" }).phase("zebra", one).phase("apple", two);

    expect(job.phases).toEqual(["zebra", "apple"]);
    expect(definitionOf(job).body).toEqual({
      kind: "phases",
      phases: [
        { name: "zebra", handler: one },
        { name: "apple", handler: two },
      ],
    });
  });

  test("makes requests that name the job and not the contract before it", () => {
    const job = defineJob({ type: "tick" }).run(one);

    expect(requestOf(job.of()).contract).toBe(job);
  });

  test("leaves the contract and the shorter chain as they were", () => {
    const contract = defineJob({ type: "p" });
    const short = contract.phase("one", one);
    const left = short.phase("left", one);
    const right = short.phase("right", one);

    expect(definitionOf(contract).body).toEqual({ kind: "none" });
    expect([short.phases, left.phases, right.phases]).toEqual([
      ["one"],
      ["one", "left"],
      ["one", "right"],
    ]);
  });

  test("cannot take phases besides its handler, nor a handler besides its phases", () => {
    expect(defineJob({ type: "a" }).run(one)).not.toHaveProperty("phase");
    expect(defineJob({ type: "a" }).phase("one", one)).not.toHaveProperty("run");
  });
});

describe("typed", () => {
  test("lets every value through as it is", async () => {
    const payload = { at: 1 };

    expect(await typed<{ at: number }>()["~standard"].validate(payload)).toEqual({
      value: payload,
    });
  });
});

describe("a definition that the types did not stop", () => {
  const NAME = "must be a text of 1 to 200 characters without control characters, and not . or ..";

  test.each<[name: string, definition: unknown, message: string]>([
    ["nothing", undefined, 'defineJob: must be an object such as { type: "email" }, not undefined'],
    ["a list", [], 'defineJob: must be an object such as { type: "email" }, not an array'],
    ["no type", { lane: "fast" }, `defineJob: type ${NAME}, not undefined`],
    ["a type that is no text", { type: 7 }, `defineJob: type ${NAME}, not 7`],
    ["an empty type", { type: "" }, `job "": type ${NAME}, not ""`],
    ["a control character", { type: "a\nb" }, String.raw`job "a\nb": type ${NAME}, not "a\nb"`],
    ["a part of a path", { type: ".." }, `job "..": type ${NAME}, not ".."`],
    ["half a letter", { type: "a\uD800" }, String.raw`job "a\ud800": type ${NAME}, not "a\ud800"`],
  ])("is refused for %s", (_, definition, message) => {
    expect(refusalOf(definition)).toBe(message);
  });

  test("is refused for a type of 201 characters and not for one of 200", () => {
    expect(defineJob({ type: "ü".repeat(200) }).type).toHaveLength(200);
    expect(defineJob({ type: "🚲".repeat(200) }).type).toHaveLength(400);
    expect(refusalOf({ type: "🚲".repeat(201) })).toContain(NAME);
  });

  test.each<[setting: string, value: unknown, message: string]>([
    ["payload", { to: "string" }, "a Standard Schema (zod, valibot, arktype) or typed<…>()"],
    ["payload", { "~standard": { version: 2, validate: () => ({}) } }, "a Standard Schema"],
    ["payload", { "~standard": { version: 1 } }, "a Standard Schema"],
    ["payload", "string", "a Standard Schema"],
    ["lane", "", "a text of 1 to 200 characters"],
    ["category", 4, "a text of 1 to 200 characters"],
    [
      "priority",
      -1,
      'a whole number from 0 to 1,000,000,000, or "critical", "high", "normal" or "low"',
    ],
    ["priority", 1.5, "a whole number from 0 to 1,000,000,000"],
    ["priority", "urgent", "a whole number from 0 to 1,000,000,000"],
    ["priority", "toString", "a whole number from 0 to 1,000,000,000"],
    ["priority", 1_000_000_001, "a whole number from 0 to 1,000,000,000"],
    ["timeout", "5 minutes", 'a duration above zero such as "20m", or false for none'],
    ["timeout", 0, "a duration above zero"],
    ["timeout", true, "a duration above zero"],
    ["maxAttempts", 0, "a whole number from 1 to 1,000,000,000"],
    ["maxAttempts", 2.5, "a whole number from 1 to 1,000,000,000"],
    ["maxAttempts", "3", "a whole number from 1 to 1,000,000,000"],
    ["maxAttempts", Number.POSITIVE_INFINITY, "a whole number from 1 to 1,000,000,000"],
    ["maxAttempts", 1_000_000_001, "a whole number from 1 to 1,000,000,000"],
    ["backoff", "2s", 'an object such as { kind: "exponential", base: "2s" }'],
    ["backoff.kind", { kind: "quadratic", base: 1 }, '"fixed", "linear" or "exponential"'],
    ["backoff.base", { kind: "fixed" }, 'a duration such as "30s" or a number of milliseconds'],
    ["backoff.cap", { kind: "fixed", base: 1, cap: "soon" }, 'a duration such as "30s"'],
    ["backoff.factor", { kind: "fixed", base: 1, factor: 0.5 }, "a number of at least 1"],
    ["backoff.factor", { kind: "fixed", base: 1, factor: Infinity }, "a number of at least 1"],
    ["backoff.jitter", { kind: "fixed", base: 1, jitter: 1.1 }, "a number from 0 to 1"],
    ["backoff.jitter", { kind: "fixed", base: 1, jitter: Number.NaN }, "a number from 0 to 1"],
    ["classify", "retryable", "a function"],
    ["onRetry", "again", '"resume" or "restart"'],
    ["onOrphan", true, '"retry" or "fail"'],
    ["retryOwner", "me", '"queue" or "supervisor"'],
  ])("is refused for a wrong %s (%j)", (place, value, expected) => {
    const [setting = ""] = place.split(/[.[]/);

    expect(refusalOf({ type: "email", [setting]: value })).toContain(
      `job "email": ${place} must be ${expected}`,
    );
  });

  test.each<[setting: string, value: unknown]>([
    ["lane", "bulk"],
    ["category", "mail"],
    ["priority", 0],
    ["priority", "critical"],
    ["timeout", "20m"],
    ["timeout", 1],
    ["timeout", false],
    ["maxAttempts", 1],
    ["backoff", { kind: "linear", base: 0 }],
    ["backoff", { kind: "exponential", base: "2s", factor: 1, jitter: 0, cap: 60_000 }],
    ["backoff", { kind: "exponential", base: "2s", jitter: 1 }],
    ["classify", () => undefined],
    ["onRetry", "restart"],
    ["onOrphan", "fail"],
    ["retryOwner", "supervisor"],
  ])("is not refused for a right %s (%j)", (setting, value) => {
    const settings = { [setting]: value };

    const contract = defineJob({ type: "email", ...settings });

    expect(definitionOf(contract).settings).toEqual(settings);
  });

  test("is told which setting was probably meant", () => {
    expect(refusalOf({ type: "email", maxAttemps: 3 })).toBe(
      'job "email": maxAttemps is unknown; did you mean maxAttempts?',
    );
    expect(refusalOf({ type: "email", backoff: { kind: "fixed", bsae: "1s" } })).toBe(
      'job "email": backoff.bsae is unknown; did you mean base?',
    );
  });

  test("is told all settings when none is near", () => {
    expect(refusalOf({ type: "email", colour: "red" })).toBe(
      'job "email": colour is unknown; the known keys are type, payload, lane, category, ' +
        "priority, timeout, maxAttempts, backoff, classify, onRetry, onOrphan, retryOwner, " +
        "limits, services, payloadVersion and upcast",
    );
  });

  test.each([
    [["bank", "bank"]],
    [[""]],
    [Array.from({ length: 11 }, (_, index) => `service${index}`)],
  ])("is refused for the services %j", (services) => {
    const error = errorOf(() => defineJob({ type: "charge", services }));

    expect(error.code).toBe("DEFINITION_INVALID");
    expect(error.message).toContain("services must be a list of at most 10 different names");
  });

  test("takes a concurrency, a rate or both as limits, and keeps a copy", () => {
    const rate = { limit: 100, per: "1m", burst: 10 } as const;
    const limits = { concurrency: 5, rate: { ...rate } };
    const { settings } = definitionOf(defineJob({ type: "charge", limits }).run(() => {}));
    Object.assign(limits.rate, { limit: 1 });

    expect(settings.limits).toEqual({ concurrency: 5, rate });
    expect(Object.isFrozen(settings.limits?.rate)).toBe(true);
    const plain = definitionOf(defineJob({ type: "charge", limits: { rate } }).run(() => {}));
    expect(plain.settings.limits).toEqual({ rate });
  });

  test.each([
    [{}, "limits must name concurrency, rate or both, such as { concurrency: 5 }"],
    [5, "limits must be an object such as { concurrency: 5 }, not 5"],
    [
      { concurrency: 0 },
      "limits.concurrency must be a whole number from 1 to 1,000,000,000, not 0",
    ],
    [{ rate: { limit: 5 } }, 'limits.rate.per must be a duration such as "1m", not undefined'],
    [
      { rate: { limit: 5, per: "0s" } },
      'limits.rate.per must be a duration such as "1m", not "0s"',
    ],
  ])("is refused for the limits %j", (limits, message) => {
    expect(refusalOf({ type: "charge", limits })).toBe(`job "charge": ${message}`);
  });

  test("names the job and the place for programs too", () => {
    const error = errorOf(() => defineJob(untyped({ type: "email", maxAttempts: 0 })));

    expect(error.code).toBe("DEFINITION_INVALID");
    expect(error.details).toEqual({ subject: 'job "email"', place: "maxAttempts" });
  });
});

describe("a step of the chain that the types did not stop", () => {
  const contract = defineJob({ type: "p" });

  test("is refused without a handler", () => {
    expect(errorOf(() => contract.run(untyped("later"))).message).toBe(
      'job "p": the handler of run must be a function, not "later"',
    );
    expect(errorOf(() => contract.phase("one", untyped(undefined))).message).toBe(
      'job "p": the handler of phase "one" must be a function, not undefined',
    );
  });

  test.each(["1", "-1", "1.5", "1e3", " ", "0x10", "__proto__"])(
    "is refused for the phase name %j",
    (name) => {
      expect(errorOf(() => contract.phase(untyped(name), one)).message).toBe(
        `job "p": the name of a phase must be a word such as "upload", not "${name}"`,
      );
    },
  );

  test.each(["", "a\tb", undefined])("is refused for the phase name %j", (name) => {
    expect(errorOf(() => contract.phase(untyped(name), one)).message).toContain(
      'job "p": the name of a phase must be a text of 1 to 200 characters',
    );
  });

  test("is refused for a phase that is already declared, however long ago", () => {
    const pipeline = contract.phase("one", one).phase("two", one);

    expect(errorOf(() => pipeline.phase(untyped("one"), one)).message).toBe(
      'job "p": phase "one" is already declared; give every phase a name of its own',
    );
  });
});

describe("a value that is no contract or request", () => {
  test("is refused when the runtime reads it", () => {
    expect(errorOf(() => definitionOf(untyped("email"))).message).toBe(
      'expected a job made with defineJob, found "email"',
    );
    expect(errorOf(() => definitionOf(untyped({ type: "email" }))).code).toBe("DEFINITION_INVALID");
    expect(errorOf(() => requestOf(defineJob({ type: "email" }))).message).toBe(
      "expected a request made with .of of a job, found an object",
    );
  });
});

/** What JavaScript, or a cast, may pass. */
function untyped(value: unknown): never {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- That is the point.
  return value as never;
}

function refusalOf(definition: unknown): string {
  return errorOf(() => defineJob(untyped(definition))).message;
}

function errorOf(call: () => unknown): MillraceError {
  try {
    call();
  } catch (error) {
    if (error instanceof MillraceError) return error;
    throw error;
  }
  throw new Error("nothing was refused");
}
