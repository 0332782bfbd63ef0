import { expect, test } from "vitest";
import { refusedByCount } from "./schedules.ts";

const NEW = { revision: null, by: null };

test("operators make at most 1,000 schedules, and those of one tenant at most 100", () => {
  expect(refusedByCount({ total: 999, of_tenant: 999 }, NEW)).toBeNull();
  expect(refusedByCount({ total: 1_000, of_tenant: 0 }, NEW)).toBe("too_many");
  const ofTenant = { ...NEW, ofTenant: true } as const;
  expect(refusedByCount({ total: 999, of_tenant: 99 }, ofTenant)).toBeNull();
  expect(refusedByCount({ total: 100, of_tenant: 100 }, ofTenant)).toBe("too_many_of_tenant");
  expect(refusedByCount({ total: 1_000, of_tenant: 1 }, ofTenant)).toBe("too_many");
});
