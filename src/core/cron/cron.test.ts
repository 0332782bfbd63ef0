import { describe, expect, test } from "vitest";
import { cronFault } from "./cron.ts";

describe("a cron expression", () => {
  test.each([
    "* * * * *",
    "0 3 * * *",
    "*/15 0-6,22 1,15 jan-MAR mon-fri",
    "5/10 * * * 7",
    "59 23 31 12 0",
    "0 0 29 2 *",
    "0 0 30 2 sun",
    "0 0 31 */2 *",
    "0 0 31 2,4,5 *",
    "0 0 31 2/1 *",
    "0 0 31 2/6 *",
    "  0   3\t* * *  ",
    "@daily",
    "@Yearly",
    "*/10 0 3 * * *",
  ])("%j can be read", (expression) => {
    expect(cronFault(expression)).toBeNull();
  });

  test.each([
    ["every day", "it has 2 field(s)"],
    ["0 3 * *", "it has 4 field(s)"],
    ["0 0 3 * * * *", "it has 7 field(s)"],
    ["60 0 3 * * *", 'the second "60" is not from 0 to 59'],
    ["60 * * * *", 'the minute "60" is not from 0 to 59'],
    ["0 24 * * *", 'the hour "24" is not from 0 to 23'],
    ["0 0 0 * *", 'the day of the month "0" is not from 1 to 31'],
    ["0 0 * 13 *", 'the month "13" is not from 1 to 12'],
    ["0 0 * * 8", 'the day of the week "8" is not from 0 to 7'],
    ["0 0 * * mo", 'the day of the week "mo" cannot be read'],
    ["x * * * *", 'the minute "x" cannot be read'],
    ["1, * * * *", 'the minute "" cannot be read'],
    ["1-2-3 * * * *", 'the minute "1-2-3" cannot be read'],
    ["1- * * * *", 'the minute "1-" cannot be read'],
    ["-5 * * * *", 'the minute "-5" cannot be read'],
    ["*/0 * * * *", 'the minute "*/0" cannot be read'],
    ["*/5/5 * * * *", 'the minute "*/5/5" cannot be read'],
    ["*/x * * * *", 'the minute "*/x" cannot be read'],
    ["5.5 * * * *", 'the minute "5.5" cannot be read'],
    ["0 22-6 * * *", 'the hour "22-6" ends before it begins'],
    ["0 0 L * *", 'the day of the month "l" cannot be read'],
    ["0 0 30 2 *", "no month that it names has a day 30"],
    ["0 0 31 4,jun *", "no month that it names has a day 31"],
    ["0 0 30-31 feb *", "no month that it names has a day 30"],
    ["0 0 31 4/7 *", "no month that it names has a day 31"],
    ["1e1 * * * *", 'the minute "1e1" cannot be read'],
    ["@reboot", "the names are @yearly, @annually"],
    [`0 0 ${"1,".repeat(100)}1 * *`, "it has more than 200 characters"],
    ["", "it has 1 field(s)"],
  ])("%j is refused: %s", (expression, fault) => {
    expect(cronFault(expression)).toContain(fault);
  });
});
