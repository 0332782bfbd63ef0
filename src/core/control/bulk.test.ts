import { expect, test } from "vitest";
import {
  chunkSize,
  itemsPerSecond,
  operationRemark,
  RATE_MIN,
  remarkForTenant,
  statesFor,
} from "./bulk.ts";

test("a rate is a number per second, or a count per second, minute or hour", () => {
  expect(itemsPerSecond(500)).toBe(500);
  expect(itemsPerSecond("500/s")).toBe(500);
  expect(itemsPerSecond("30/m")).toBe(0.5);
  expect(itemsPerSecond("180/h")).toBe(0.05);
  expect(itemsPerSecond("1/m")).toBe(RATE_MIN);
  expect(itemsPerSecond("60/h")).toBe(RATE_MIN);
});

test("any other rate is none", () => {
  for (const rate of [
    "",
    "500",
    "5/d",
    "0/s",
    "-5/s",
    "200000/s",
    0,
    -1,
    Number.NaN,
    100_001,
    "59/h",
    0.01,
    1e-300,
  ]) {
    expect(itemsPerSecond(rate)).toBeNull();
  }
});

test("a chunk has at most what the rate allows in one second, and at least one item", () => {
  expect(chunkSize(100, 1_000)).toBe(100);
  expect(chunkSize(100, 20)).toBe(20);
  expect(chunkSize(100, 0.1)).toBe(1);
});

test("an action is for the states in which it changes a job", () => {
  expect(statesFor("cancel", undefined)).toEqual(["scheduled", "queued", "running"]);
  expect(statesFor("priority", ["queued", "running"])).toEqual(["queued"]);
  expect(statesFor("reschedule", undefined)).toEqual(["scheduled", "queued"]);
  expect(statesFor("delete", ["queued"])).toEqual([]);
});

test("a retry repeats completed jobs only if the filter names their state", () => {
  expect(statesFor("retry", undefined)).not.toContain("completed");
  expect(statesFor("retry", undefined)).toContain("failed");
  expect(statesFor("retry", ["completed", "running"])).toEqual(["completed"]);
});

test("a tenant reads the reasons of its own operations, and of others that there was one", () => {
  const operation = { id: "01K", reason: "wrong list" };
  const own = operationRemark({ ...operation, tenant: "acme" });
  expect(own).toBe("wrong list (operation 01K)");
  expect(remarkForTenant(own)).toEqual({ remark: own, isHidden: false });
  const all = operationRemark({ ...operation, tenant: null });
  expect(all).toBe("operation 01K of the installation: wrong list");
  const remark = "operation 01K of the installation";
  expect(remarkForTenant(all)).toEqual({ remark, isHidden: true });
  expect(remarkForTenant(null)).toEqual({ remark: null, isHidden: false });
});
