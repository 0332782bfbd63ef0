/** A sample of the show about channels: real processes, killed and taken over, on both stores. */
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { sized } from "../../../scripts/lib/campaign-size.ts";

const run = promisify(execFile);
const SHOW = join(import.meta.dirname, "../../..", "scripts", "show", "channel-kills.ts");
const RUN_MS_MAX = 600_000;
const rounds = sized({ smoke: 3, short: 24, full: 24 });

test.each(["sqlite", "postgres"])(
  "a supervised process on %s survives kills, and records no fact without a call (002-34)",
  async (store) => {
    const size = ["--store", store, "--rounds", `${rounds}`, "--from", "4"];
    const told = await run(process.execPath, ["--conditions=source", SHOW, ...size]);
    expect(told.stdout).toMatch(new RegExp(`${store}: [1-9]\\d* kills`));
    expect(told.stdout).toContain("0 violations");
  },
  RUN_MS_MAX,
);
