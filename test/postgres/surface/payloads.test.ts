/** A payload from SQL and one from TypeScript get the same verdict and the same hash. */
import * as fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { checkPayload, type JobIdentity } from "../../../src/core/payload-rules/check.ts";
import { addedUp, type PayloadRule } from "../../../src/core/payload-rules/rule.ts";
import { encodePayload, type Json } from "../../../src/core/payload.ts";
import { defineJob, MillraceError, openMillrace, typed } from "../../../src/index.ts";
import { requestHash } from "../../../src/store/shared/request-hash.ts";
import { openSurface, refusalOf, type Scene, type Surface } from "./support.ts";

let surface: Surface;
let scene: Scene;
beforeAll(async () => {
  surface = await openSurface();
  scene = await surface.open();
  await scene.owner.query("SELECT millrace.declare_type('a')");
});
afterAll(async () => {
  await scene[Symbol.asyncDispose]();
  await surface[Symbol.asyncDispose]();
});

const JOB: JobIdentity = {
  tenant: "default",
  correlationId: null,
  idempotencyKey: null,
  payloadVersion: null,
  isScheduled: false,
  repeats: null,
};

interface Case {
  readonly payload: Json;
  readonly rules: readonly PayloadRule[];
  readonly job: JobIdentity;
}

const SCOPES = ["installation", "category", "type"] as const;
const NAMES = ["all", "c", "a"] as const;

/** The answers of SQL: whether each payload is accepted. */
async function acceptedBySql(cases: readonly Case[]): Promise<boolean[]> {
  const { owner } = scene;
  const accepted: boolean[] = [];
  for (const { payload, rules, job } of cases) {
    const rows = rules.map((rule, index) => ({
      scope: SCOPES[index],
      name: NAMES[index],
      rule: JSON.stringify(rule),
    }));
    await owner.query("BEGIN");
    await owner.query(
      `INSERT INTO millrace.payload_rule (set_at, scope, name, rule, owner)
       SELECT now(), scope, name, rule::json, 'operator'
       FROM json_to_recordset($1) AS given (scope text, name text, rule text)`,
      [JSON.stringify(rows)],
    );
    const { tenant, correlationId, idempotencyKey, payloadVersion } = job;
    const { rows: answers } = await owner.query(
      "SELECT millrace.payload_problem($1, 'a', 'c', $2, $3, $4, $5) IS NULL AS accepted",
      [JSON.stringify(payload), tenant, correlationId, idempotencyKey, payloadVersion],
    );
    await owner.query("ROLLBACK");
    accepted.push(answers[0].accepted);
  }
  return accepted;
}

function acceptedByTypeScript({ payload, rules, job }: Case): boolean {
  const { bytes } = encodePayload(payload);
  const rule = addedUp(rules);
  return rule === null || checkPayload(payload, bytes, rule, job).errors.length === 0;
}

describe("a payload rule", () => {
  const cases: readonly [string, PayloadRule, Json, Partial<JobIdentity>?][] = [
    ["a tenant in other letters", {}, { tenant_id: "ACME" }, { tenant: "acme" }],
    ["a tenant as a number", {}, { tenant_id: 7 }, { tenant: "7" }],
    ["a tenant as a number of exponents", {}, { tenant_id: 1e3 }, { tenant: "1000" }],
    ["a tenant as a list", {}, { tenant_id: ["acme"] }, { tenant: "acme" }],
    ["a tenant as a truth", {}, { tenant_id: true }, { tenant: "true" }],
    ["a key in other letters", {}, { idempotency_key: "ABC" }, { idempotencyKey: "abc" }],
    ["a key that the job has not", {}, { idempotency_key: "x" }],
    ["an id in other letters", {}, { correlation_id: "ABC" }, { correlationId: "abc" }],
    ["an id beyond ASCII", {}, { correlation_id: "ÄÖ" }, { correlationId: "äö" }],
    ["the version 1.0", {}, { payload_version: "1.0" }, { payloadVersion: "1" }],
    ["the version 1 as a number", {}, { payload_version: 1 }],
    ["the version 01", {}, { payload_version: "01" }, { payloadVersion: "1.0.0" }],
    ["the version 1.1", {}, { payload_version: "1.1" }, { payloadVersion: "1" }],
    ["a version that is none", {}, { payload_version: "V1" }, { payloadVersion: "v1" }],
    ["a version of five numbers", {}, { payload_version: "1.0.0.0.0" }],
    ["a payload of just its bytes", { hardBytes: 18 }, { a: [1, 2, 3], b: 10 }],
    ["a payload of one byte more", { hardBytes: 20 }, { a: [1, 2, 3], b: 10, c: "ä" }],
    ["a short number", { hardBytes: 10 }, { a: 1e-20 }],
    ["a name beyond ASCII", { forbidden: ["Ärger"] }, { in: [{ äRGER: 1 }] }],
    ["a name with a sharp s", { forbidden: ["größe"] }, { GRÖSSE: 1 }],
    ["a name with a large sharp s", { forbidden: ["größe"] }, { GRÖẞE: 1 }],
    ["a field of a list", { required: { "items.0": "any" } }, { items: [1] }],
    ["a last field of a list", { required: { "items.-1": "any" } }, { items: [1] }],
    ["a field 00 of a list", { required: { "items.00": "any" } }, { items: [1] }],
    ["a field behind a dot", { required: { "a.b": "any" } }, { "a.b": 1 }],
    ["a field of a text", { required: { "a.0": "any" } }, { a: "text" }],
    ["a half", { required: { a: "integer" } }, { a: 0.5 }],
    ["a UUID in capitals", { required: { a: "uuid" } }, { a: crypto.randomUUID().toUpperCase() }],
    ["an empty list", { required: { a: "any" } }, { a: [] }],
    ["an empty text", { required: { a: "string" } }, { a: "" }],
    ["a list as payload", { required: { a: "any" } }, [1]],
  ];

  test.each(cases)("says the same about %s", async (_, rule, payload, job = {}) => {
    const one: Case = { payload, rules: [rule], job: { ...JOB, ...job } };
    expect(await acceptedBySql([one])).toEqual([acceptedByTypeScript(one)]);
  });

  test("gives the same verdicts on random payloads and rules", async () => {
    const drawn = fc.sample(aCase, { numRuns: 400, seed: 8 });
    const expected = drawn.map(acceptedByTypeScript);
    expect(expected.filter(Boolean).length).toBeGreaterThan(40);
    expect(expected.filter((accepted) => !accepted).length).toBeGreaterThan(40);
    expect(await acceptedBySql(drawn)).toEqual(expected);
  });
});

describe("a rule about sensitive content", () => {
  const accepted = (payload: Json, ...rules: readonly PayloadRule[]): Promise<boolean[]> =>
    acceptedBySql([{ payload, rules, job: JOB }]);

  test.each(["reject", "redact"] as const)("that says %s lets no content pass", async (action) => {
    const rule: PayloadRule = { sensitive: { tokens: action, cards: "warn" } };
    expect(await accepted({ note: "harmless" }, rule)).toEqual([false]);
    expect(await accepted(7, {}, {}, rule)).toEqual([false]);
    for (const empty of [null, {}, []]) expect(await accepted(empty, rule)).toEqual([true]);
  });

  test("that warns refuses nothing", async () => {
    const rule: PayloadRule = { sensitive: { tokens: "warn" } };
    expect(await accepted({ note: "harmless" }, rule)).toEqual([true]);
  });

  test("is named in the refusal of enqueue, with what to do", async () => {
    await using mill = await openMillrace(scene.url);
    await mill.payloadRules.set({ type: "a" }, { sensitive: { passwords: "reject" } });
    const call = scene.owner.query("SELECT millrace.enqueue('a', '{\"login\": \"ada\"}')");
    await expect(call).rejects.toMatchObject({
      code: "MR013",
      message: expect.stringMatching(/looks for passwords, which SQL cannot do: enqueue the job/),
    });
    await mill.payloadRules.remove({ type: "a" });
  });
});

describe("the hash of a request", () => {
  test("does not depend on the entrance, with keys of all alphabets", async () => {
    const values = fc.sample(json, { numRuns: 1_000, seed: 9 });
    const texts = [{ "😀": 1, ﬀ: 2 }, { "\ud7ff😀": 1, "😀": 2, "\ue000": 3 }, ...values].map(
      (value) => encodePayload(value).text!,
    );
    const session = await scene.as("odd_settings", "postgres");
    await session.query("SET extra_float_digits = 0; SET standard_conforming_strings = off");
    const { rows } = await session.query(
      `SELECT encode(sha256(convert_to(E'a\\n' || millrace.canonical_json(given.text::jsonb),
                                       'UTF8')), 'hex') AS hash
       FROM unnest($1::text[]) WITH ORDINALITY AS given (text, turn) ORDER BY given.turn`,
      [texts],
    );
    const hashes = texts.map((payload) =>
      Buffer.from(requestHash({ type: "a", payload, idempotency: null })).toString("hex"),
    );
    expect(rows.map(({ hash }) => hash)).toEqual(hashes);
  });

  test("so a repeated key answers the task of the other entrance", async () => {
    await using mill = await openMillrace(scene.url);
    const job = defineJob({ type: "a", payload: typed<Json>() }).run(() => null);
    const payload = { "😀": 1, ﬀ: 2 };
    const { id } = await mill.enqueue(job, payload, { idempotencyKey: "k" });
    const [task] = await scene.rows(
      "SELECT millrace.enqueue('a', $1, idempotency_key => 'k') AS id",
      [payload],
    );
    const found = await scene.rows(
      "SELECT millrace.job_id_text(id) AS id FROM millrace.job WHERE key = $1",
      [task.id],
    );
    expect(found).toEqual([{ id }]);
  });
});

describe("what no payload may be", () => {
  const nested = (depth: number): string => "[".repeat(depth) + "]".repeat(depth);

  test.each([
    ["a number beyond the largest", '{"n": 1e400}'],
    ["a negative one in a list", "[[-1e309]]"],
    ["a number that is rounded up to infinity", "1.7976931348623159e308"],
    ["the largest number", "1.7976931348623157e308"],
    ["a number near 0", '{"n": 1e-400}'],
    ["101 levels", nested(101)],
    ["100 levels", nested(100)],
    ["100 levels and a number", `${"[".repeat(100)}1${"]".repeat(100)}`],
    ["a key that sets a prototype", '{"a": [{"__proto__": 1}]}'],
    ["the name of a prototype as a value", '{"a": "__proto__"}'],
  ])("is the same at both entrances: %s", async (what, text) => {
    const call = scene.owner.query("SELECT millrace.enqueue('a', $1)", [text]);
    expect(await refusalOf(call)).toBe(isRefusedByTypeScript(text) ? "22023" : null);
    const keyed = scene.owner.query("SELECT millrace.enqueue('a', $1, idempotency_key => $2)", [
      text,
      `key ${what}`,
    ]);
    expect(await refusalOf(keyed)).toBe(isRefusedByTypeScript(text) ? "22023" : null);
  });
});

/** Numbers keep their digits, as over HTTP. */
function isRefusedByTypeScript(text: string): boolean {
  try {
    const exact = text.replaceAll(/-?\d[\d.e+-]*/g, (digits) => `{"~":"${digits}"}`);
    const raw: (digits: string) => unknown = Reflect.get(JSON, "rawJSON");
    encodePayload(
      JSON.parse(exact, (_, value) =>
        typeof value === "object" && value !== null && Object.hasOwn(value, "~")
          ? raw(value["~"])
          : value,
      ),
    );
    return false;
  } catch (error) {
    if (error instanceof MillraceError && error.code === "PAYLOAD_REFUSED") return true;
    throw error;
  }
}

const text = fc
  .string({ unit: "binary", maxLength: 6 })
  .filter((each) => each.isWellFormed() && !each.includes("\0") && each !== "__proto__");
const number = fc
  .oneof(
    fc.integer(),
    fc.double({ noNaN: true, min: -(2 ** 53) + 1, max: 2 ** 53 - 1 }),
    fc.constantFrom(1e-7, 1.5e-7, 0.000_001, 5e-324, 2 ** 53 - 1),
  )
  .map((each) => (each === 0 ? 0 : each));
const leaf = fc.oneof(fc.constant(null), fc.boolean(), number, text);
const { json } = fc.letrec<{ json: Json }>((tie) => ({
  json: fc.oneof(
    { maxDepth: 4 },
    leaf,
    fc.array(tie("json"), { maxLength: 4 }),
    fc.dictionary(text, tie("json"), { maxKeys: 4 }),
  ),
}));

const NAMED = ["a", "A", "Ä", "ä", "items", "tenant_id", "payload_version", "correlation_id"];
const word = fc.constantFrom("acme", "ACME", "1", "1.0", "1.0.1", "2", "x", "Ä", "ä", "", "7");
const field = fc.oneof(word, number, fc.constantFrom<Json>(null, true, [], ["acme"], { a: 1 }, 7));
const payload = fc.oneof(
  json,
  fc.dictionary(fc.constantFrom(...NAMED, "idempotency_key"), field, { maxKeys: 3 }),
  fc.record({ items: fc.array(fc.dictionary(fc.constantFrom(...NAMED), field, { maxKeys: 2 })) }),
);
const rule: fc.Arbitrary<PayloadRule> = fc.record(
  {
    required: fc.dictionary(
      fc.constantFrom("a", "items", "items.0", "items.0.a", "items.-1", "tenant_id", "a.a"),
      fc.constantFrom("any", "integer", "uuid", "string"),
      { maxKeys: 1 },
    ),
    hardBytes: fc.integer({ min: 1, max: 200 }),
    forbidden: fc.uniqueArray(fc.constantFrom("a", "Ä", "x"), { maxLength: 1 }),
    strict: fc.constant(false),
  },
  { requiredKeys: [] },
);
const aCase: fc.Arbitrary<Case> = fc.record({
  payload,
  rules: fc.array(rule, { maxLength: 3 }),
  job: fc.record({
    tenant: fc.constantFrom("acme", "default", "7"),
    correlationId: fc.constantFrom(null, "acme", "x"),
    idempotencyKey: fc.constantFrom(null, "acme", "x"),
    payloadVersion: fc.constantFrom(null, "1", "1.0", "2"),
    isScheduled: fc.constant(false),
    repeats: fc.constant(null),
  }),
});
