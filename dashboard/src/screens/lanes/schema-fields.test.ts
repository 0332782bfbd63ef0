import { describe, expect, test } from "vitest";
import { checkJson, fieldsOf, firstValues, payloadOf, problemsOf } from "./schema-fields.ts";

const SCHEMA = {
  type: "object",
  required: ["to", "count", "customer"],
  properties: {
    to: { type: "string", description: "The address" },
    count: { type: "integer", default: 3 },
    share: { type: "number" },
    isUrgent: { type: "boolean" },
    size: { enum: ["small", "large", 3] },
    at: { type: "string", format: "date-time" },
    customer: {
      type: "object",
      required: ["id"],
      properties: { id: { type: "string" }, address: { type: "object", properties: { a: {} } } },
    },
    copies: { type: "array", items: { type: "string" } },
    numbers: { type: "array", items: { type: "integer" }, default: [1, 2] },
    rows: { type: "array", items: { type: "object" } },
    either: { anyOf: [{ type: "string" }, { type: "number" }] },
  },
};

const fields = fieldsOf(SCHEMA) ?? [];

test("each property becomes a field of its kind", () => {
  expect(Object.fromEntries(fields.map(({ name, kind }) => [name, kind]))).toEqual({
    to: "text",
    count: "integer",
    share: "number",
    isUrgent: "boolean",
    size: "choice",
    at: "moment",
    customer: "group",
    copies: "list",
    numbers: "list",
    rows: "json",
    either: "json",
  });
});

test("objects nest once; what lies deeper is JSON", () => {
  const customer = fields.find(({ name }) => name === "customer");
  expect(customer?.fields.map(({ path, kind }) => [path, kind])).toEqual([
    ["customer.id", "text"],
    ["customer.address", "json"],
  ]);
});

test.each([
  ["no schema", undefined],
  ["a schema of anything", {}],
  ["a scalar", { type: "string" }],
  ["branches", { oneOf: [{ type: "object", properties: { a: {} } }] }],
  ["an object without properties", { type: "object" }],
  ["a list", []],
])("%s has no form", (_, schema) => {
  expect(fieldsOf(schema)).toBeNull();
});

test("defaults are filled in as a person would type them", () => {
  expect(firstValues(fields)).toMatchObject({ to: "", count: "3", numbers: "1\n2" });
});

describe("a payload", () => {
  const typed = {
    to: "ada",
    count: "4",
    share: "0.5",
    isUrgent: "false",
    size: '"large"',
    at: "2026-03-01T12:00:00Z",
    "customer.id": "c1",
    copies: "one\n\ntwo ",
    numbers: "1\n2",
    rows: '[{"a":1}]',
  };

  test("has the values of the fields, and nothing for empty ones", () => {
    expect(payloadOf(fields, typed)).toEqual({
      payload: {
        to: "ada",
        count: 4,
        share: 0.5,
        isUrgent: false,
        size: "large",
        at: "2026-03-01T12:00:00.000Z",
        customer: { id: "c1" },
        copies: ["one", "two "],
        numbers: [1, 2],
        rows: [{ a: 1 }],
      },
      problems: {},
    });
  });

  test.each([
    ["count", "4.5", "Give a whole number."],
    ["count", "many", '"many" is no number.'],
    ["count", "", "This is required."],
    [
      "count",
      "9007199254740993",
      "9007199254740993 loses digits when JavaScript reads it: write it as a text.",
    ],
    [
      "numbers",
      "9007199254740993.5",
      "9007199254740993.5 loses digits when JavaScript reads it: write it as a text.",
    ],
    ["at", "soon", '"soon" is no date and time.'],
    ["numbers", "1\nx", '"x" is no number.'],
  ])("a wrong %s %j is told at the field", (path, text, problem) => {
    expect(payloadOf(fields, { ...typed, [path]: text }).problems).toEqual({ [path]: problem });
  });

  test("a required text may be empty", () => {
    expect(payloadOf(fields, { ...typed, to: "" }).payload).toMatchObject({ to: "" });
  });

  test("a group that is not required and not filled is left out", () => {
    const optional = fieldsOf({ ...SCHEMA, required: [] }) ?? [];
    expect(payloadOf(optional, { to: "ada" })).toEqual({ payload: { to: "ada" }, problems: {} });
  });
});

describe("JSON that a person typed", () => {
  test.each(["0.12345678901234567890", "9007199254740993.5", "1e400", "-9007199254740993"])(
    "is refused with %s, which loses digits",
    (number) => {
      expect(checkJson(`{"a":[${number}]}`)).toHaveProperty("problem");
    },
  );

  test.each(["0.1", "-0.10", "0", "0.0", "0e5", "1e21", "1E-7", "0.30000000000000004", "123e4"])(
    "is read with %s, which keeps them",
    (number) => {
      expect(checkJson(`{"a":[${number}]}`)).toEqual({ value: { a: [Number(number)] } });
    },
  );

  test("is read exactly or refused", () => {
    expect(checkJson('{"a":[1,2.5]}')).toEqual({ value: { a: [1, 2.5] } });
    expect(checkJson(" ")).toEqual({ value: undefined });
    expect(checkJson("{")).toHaveProperty("problem");
    expect(checkJson('{"id":12345678901234567890}')).toHaveProperty("problem");
    expect(checkJson('{"id":"12345678901234567890"}')).toHaveProperty("value");
  });
});

test("messages of the server find their field", () => {
  const errors = [
    { path: "payload.to", message: "must be a string" },
    { path: "/payload/customer/id", message: "is missing" },
    { path: "payload.copies[1]", message: "is too long" },
    { path: "options.delay", message: "is wrong" },
  ];
  expect(problemsOf(errors)).toEqual({
    to: "must be a string",
    "customer.id": "is missing",
    copies: "is too long",
    "options.delay": "is wrong",
  });
});
