import { describe, expect, test } from "vitest";
import { envelopeOf, failureIn, isEnvelope, succeededWith } from "./envelope.ts";

const NOTHING = { payload: null, error: null, validationFailure: null };

describe("envelopeOf", () => {
  test.each([
    [{ status: "succeeded" }, { ...NOTHING, status: "succeeded" }],
    [
      { status: "succeeded", payload: { to: "ada" } },
      { ...NOTHING, status: "succeeded", payload: { to: "ada" } },
    ],
    [{ status: "attempt_not_found" }, { ...NOTHING, status: "attempt_not_found" }],
  ])("takes a success from the status alone: %o (002-17)", (answer, envelope) => {
    expect(envelopeOf(answer, "f")).toEqual(envelope);
  });

  test.each([
    [
      { success: true, payload: 1 },
      { ...NOTHING, status: "succeeded", payload: 1 },
    ],
    [{ success: false }, { ...NOTHING, status: "failed" }],
    [
      { success: false, error: "down" },
      { ...NOTHING, status: "failed", error: "down" },
    ],
    [
      { success: false, validation_failure_message: "no address" },
      { ...NOTHING, status: "failed", validationFailure: "no address" },
    ],
    [
      { validation_failure_message: "no address" },
      { ...NOTHING, status: "failed", validationFailure: "no address" },
    ],
    [
      { success: true, status: null, error: "", validation_failure_message: "" },
      { ...NOTHING, status: "succeeded" },
    ],
    [
      { success: null, status: "gone", error: null, more: 1 },
      { ...NOTHING, status: "gone" },
    ],
    [
      { success: true, status: "succeeded" },
      { ...NOTHING, status: "succeeded" },
    ],
    [
      { success: false, status: "gone" },
      { ...NOTHING, status: "gone" },
    ],
  ])("reads the older form: %o (002-18, C-12)", (answer, envelope) => {
    expect(envelopeOf(answer, "f")).toEqual(envelope);
  });

  test.each([
    undefined,
    null,
    7,
    "succeeded",
    [],
    {},
    { payload: 1 },
    { error: "down" },
    { status: "" },
    { status: 1 },
    { success: "true" },
    { success: false, error: 3 },
    { success: false, validation_failure_message: {} },
    { success: true, status: "failed" },
    { success: false, status: "succeeded" },
    { success: true, error: "down" },
    { status: "succeeded", validation_failure_message: "no address" },
  ])("refuses %o, and names the function (C-12)", (answer) => {
    expect(() => envelopeOf(answer, "the function comms.get")).toThrow(
      expect.objectContaining({
        code: "ENVELOPE_INVALID",
        message: expect.stringContaining("the function comms.get answered"),
      }),
    );
  });
});

describe("failureIn", () => {
  test("tells what a retry may heal from what it cannot (C-12)", () => {
    const failed = { ...NOTHING, status: "failed" };
    expect(failureIn(succeededWith({ id: 1 }), "f")).toBeNull();
    expect(failureIn({ ...failed, error: "down" }, "f")).toEqual({
      class: "retryable",
      message: "down",
    });
    expect(failureIn({ ...failed, error: "down", validationFailure: "no address" }, "f")).toEqual({
      class: "non_retryable",
      message: "no address",
    });
    expect(failureIn({ ...failed, status: "gone" }, "f")).toEqual({
      class: "retryable",
      message: 'f answered the status "gone"',
    });
  });
});

describe("isEnvelope", () => {
  test("knows the one form, and no other object", () => {
    expect(isEnvelope(succeededWith(null))).toBe(true);
    expect(isEnvelope({ ...succeededWith(null), status: 1 })).toBe(false);
    expect(isEnvelope({ ...succeededWith(null), id: 1 })).toBe(false);
    expect(isEnvelope({ status: "succeeded" })).toBe(false);
    expect(isEnvelope(null)).toBe(false);
    expect(isEnvelope([])).toBe(false);
  });
});
