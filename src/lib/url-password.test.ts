import { describe, expect, test } from "vitest";
import { shownUrl, withShownUrls } from "./url-password.ts";

describe("shownUrl", () => {
  test.each([
    ["postgres://ada:s3cret@db/jobs", "postgres://ada:…@db/jobs"],
    ["postgres://:s3cret@db/jobs", "postgres://:…@db/jobs"],
    ["postgres://ada:s3:cret@db:5432/jobs", "postgres://ada:…@db:5432/jobs"],
    ["postgres://ada:s3cret@db,other:5433/jobs", "postgres://ada:…@db,other:5433/jobs"],
    // Characters that ought to be escaped.
    ["postgres://ada:s3/cret@db/jobs", "postgres://ada:…@db/jobs"],
    ["postgres://ada:s3?cret@db/jobs", "postgres://ada:…@db/jobs"],
    ["postgres://ada:s3#cret@db/jobs", "postgres://ada:…@db/jobs"],
    ["postgres://ada:s3@cret@db/jobs", "postgres://ada:…@db/jobs"],
    ["postgres://ada:s3 cret@db/jobs", "postgres://ada:…@db/jobs"],
    // Separators that ought not to be escaped.
    ["postgres://ada%3As3cret@db/jobs", "postgres://ada:…@db/jobs"],
    ["postgres://ada:s3cret%40db/jobs", "postgres://ada:…@db/jobs"],
    ["postgres://ada%3as3cret%40db/jobs", "postgres://ada:…@db/jobs"],
    ["postgres://ada%40example.com:s3cret@db/jobs", "postgres://ada%40example.com:…@db/jobs"],
    // Without a host, a scheme or slashes.
    ["postgres://ada:s3cret/jobs", "postgres://ada:…/jobs"],
    ["postgres://ada:s3cret", "postgres://ada:…"],
    ["postgres:/ada:s3cret@db/jobs", "postgres:/ada:…@db/jobs"],
    ["postgres:\\\\ada:s3cret@db", "postgres:\\\\ada:…@db"],
    ["//ada:s3cret@db/jobs", "//ada:…@db/jobs"],
    ["ada:s3cret@db/jobs", "ada:…@db/jobs"],
    // Parameters.
    ["postgres://db/jobs?password=s3cret", "postgres://db/jobs?password=…"],
    [
      "postgres://db/jobs?sslpassword=s3cret&sslmode=require",
      "postgres://db/jobs?sslpassword=…&sslmode=require",
    ],
    [
      "postgres://db/jobs?options=-c%20x%3Ds3cret&schema=mine",
      "postgres://db/jobs?options=…&schema=mine",
    ],
    ["postgres://db/jobs?pass%77ord=s3cret", "postgres://db/jobs?pass%77ord=…"],
    ["postgres://db/jobs#s3cret", "postgres://db/jobs#…"],
    ["sqlite:./x.db?key=s3cret", "sqlite:./x.db?key=…"],
    // Connection strings of other tools.
    ["host=db user=ada password=s3cret", "host=db user=ada password=…"],
    ["host=db password='s3 cret' user=ada", "host=db password=… user=ada"],
    ["mysql://ada:s3cret@db/jobs", "mysql://ada:…@db/jobs"],
  ])("shows %s as %s", (url, shown) => {
    expect(shownUrl(url)).toBe(shown);
  });

  test.each([
    "postgres://ada@db/jobs",
    "postgres://db:5432/jobs?schema=mine",
    "postgres://[::1]:5432/jobs",
    "postgres://one:5432,two:5433/jobs",
    "sqlite:./x.db",
    "sqlite:C:\\jobs\\a@b.db",
    "sqlite:/home/a:b@c/x.db",
    "sqlite::memory:",
    "./a:b@c.db",
    "x.db",
    "",
  ])("shows %s as it is", (url) => {
    expect(shownUrl(url)).toBe(url);
  });

  test("finds URLs in a sentence", () => {
    expect(withShownUrls("error: unknown option '--bd=postgres://ada:s3cret@db/jobs'")).toBe(
      "error: unknown option '--bd=postgres://ada:…@db/jobs'",
    );
    expect(withShownUrls("see http://127.0.0.1:7333/?x and (a: b@c)")).toBe(
      "see http://127.0.0.1:7333/?x and (a: b@c)",
    );
  });
});
