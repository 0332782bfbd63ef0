import { describe, expect, test } from "vitest";
import { tokenRecord } from "./tokens.ts";

const ROW = {
  id: "01JAAAAAAAAAAAAAAAAAAAAAAA",
  kind: 2,
  name: "ci",
  actor: "ci",
  roles: 0,
  tenant: null,
  types: '["email"]',
  job_id: null,
  parent: null,
  created_by: "ada",
  created_at: 1,
  expires_at: 2,
  last_used_at: null,
  revoked_at: null,
};

describe("a stored token", () => {
  test("has the types of its row", () => {
    expect(tokenRecord(ROW).types).toEqual(["email"]);
    expect(tokenRecord({ ...ROW, types: null }).types).toBeNull();
  });

  test.each(["{", '"email"', '{"email":1}'])("allows no type where its list is %s", (types) => {
    expect(tokenRecord({ ...ROW, types }).types).toEqual([]);
  });
});
