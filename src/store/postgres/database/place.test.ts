import { describe, expect, test } from "vitest";
import { databaseOf, placeOf } from "./place.ts";

describe("the place of a database", () => {
  test.each([
    ["postgres://ada:secret@db.example.com:5432/app?schema=jobs", "app"],
    ["postgres://ada:secret@db.example.com/a%20b", "a b"],
    ["postgres://ada:secret@db.example.com", "ada"],
    ["postgres://db.example.com", null],
    ["no url", null],
  ])("of %s has the name %s, and no password", (url, name) => {
    expect(databaseOf({ url, pool: undefined })).toBe(name);
    expect(placeOf({ url })).not.toContain("secret");
  });

  test("of a pool is what its options tell", () => {
    class Pool {
      readonly options: object;
      readonly Client = Object;
      constructor(options: object) {
        this.options = options;
      }
      connect = (): never => {
        throw new Error("not connected");
      };
    }
    const nameOf = (options: object): string | null =>
      databaseOf({ url: undefined, pool: Object.assign(new Pool(options)) });

    expect(nameOf({ database: "app", password: "secret" })).toBe("app");
    expect(nameOf({ connectionString: "postgres://x" })).toBeNull();
  });
});
