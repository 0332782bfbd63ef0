import { describe, expect, test } from "vitest";
import { parseDatabaseUrl } from "./database-url.ts";

describe("a database URL", () => {
  test.each([
    ["sqlite:./x.db", "./x.db"],
    ["sqlite:x.db", "x.db"],
    ["sqlite:/var/lib/x.db", "/var/lib/x.db"],
    ["sqlite:///var/lib/x.db", "/var/lib/x.db"],
    ["sqlite::memory:", ":memory:"],
    ["sqlite:C:\\jobs\\x.db", "C:\\jobs\\x.db"],
    ["SQLite:./x.db", "./x.db"],
  ])("%s names the file %s", (url, path) => {
    expect(parseDatabaseUrl(url)).toEqual({ kind: "sqlite", path });
  });

  test.each([
    ["./x.db", "did you mean sqlite:./x.db?"],
    ["/var/x.db", "did you mean sqlite:/var/x.db?"],
    ["x.db", "did you mean sqlite:./x.db?"],
    ["data/x.db", "did you mean sqlite:data/x.db?"],
    ["", "name a database, for example sqlite:./millrace.db"],
    ["sqlite:", "name a file, for example sqlite:./millrace.db"],
    ["sqlite://x.db", "did you mean sqlite:./x.db?"],
    ["sqlite:./x.db?mode=ro", "a SQLite URL takes no options"],
    ["postgres:", "it should look like postgres://user@host/database"],
    ["mysql://localhost/jobs", "a database URL looks like sqlite:./millrace.db"],
  ])("“%s” is refused with advice: %s", (url, advice) => {
    expect(() => parseDatabaseUrl(url)).toThrow(
      expect.objectContaining({ code: "OPTION_INVALID", message: expect.stringContaining(advice) }),
    );
  });

  test.each([
    ["postgres://localhost/jobs", "postgres://localhost/jobs", undefined],
    ["postgresql://ada@db:6432/jobs?sslmode=require", undefined, undefined],
    [
      "postgres://db/jobs?schema=mine&sslmode=require",
      "postgres://db/jobs?sslmode=require",
      "mine",
    ],
  ])("%s names a server", (text, url = text, schema) => {
    expect(parseDatabaseUrl(text)).toEqual({ kind: "postgres", url, schema });
  });

  test.each(["2024/s3cret", "2024?s3cret", "2024#s3cret"])(
    "with the password %s is refused without showing it",
    (password) => {
      expect(() => parseDatabaseUrl(`postgres://ada:${password}@db/jobs`)).toThrow(
        expect.objectContaining({
          code: "OPTION_INVALID",
          message: expect.stringMatching(/^(?!.*(s3cret|2024)).*%2F/),
        }),
      );
    },
  );

  test.each([
    "mysql://ada:s3cret@db/jobs",
    "ada:s3cret@db/jobs",
    "//ada:s3cret@db/jobs",
    "postgres:ada:s3cret@db",
    "postgres://ada:s3cret",
    "postgres://ada:s3cret%40db/jobs",
    "postgres://ada:s3cret@@db:x/jobs",
    "host=db user=ada password=s3cret",
    "sqlite://ada:s3cret@db/jobs",
    "sqlite:./x.db?key=s3cret",
  ])("%s is refused without showing its password", (url) => {
    expect(() => parseDatabaseUrl(url)).toThrow(
      expect.objectContaining({ message: expect.stringMatching(/^(?!.*s3cret)/) }),
    );
  });
});
