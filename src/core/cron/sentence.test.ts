import { expect, test } from "vitest";
import { cronSentence } from "./sentence.ts";

test.each([
  ["0 3 * * *", "every day at 03:00 UTC"],
  ["@daily", "every day at 00:00 UTC"],
  ["30 4,16 * * *", "every day at 04:30 and 16:30 UTC"],
  ["15 0 3 * * *", "every day at 03:00:15 UTC"],
  ["0 3 * * mon-fri", "every Monday to Friday at 03:00 UTC"],
  ["0 3 * * 0,6", "every Sunday and Saturday at 03:00 UTC"],
  ["0 3 * jan-mar,jul *", "every day in January to March and July at 03:00 UTC"],
  ["0 3 1 * *", "on day 1 of every month at 03:00 UTC"],
  ["0 3 1,15 1 *", "on day 1 and 15 of January at 03:00 UTC"],
  ["0 3 13 * fri", "on day 13 of every month and every Friday at 03:00 UTC"],
  ["0 3 13 6 fri", "on day 13 of June and every Friday in June at 03:00 UTC"],
  ["* * * * *", "every minute UTC"],
  ["* * * * * *", "every second UTC"],
  ["*/10 * * * * *", "every 10 seconds UTC"],
  ["*/15 * * * *", "every 15 minutes UTC"],
  ["*/1 * * * *", "every minute UTC"],
  ["*/15 * * * mon", "every 15 minutes, every Monday UTC"],
  ["@hourly", "every hour UTC"],
  ["5 * * * *", "every hour at minute 5 UTC"],
  ["0 */6 * * *", "every 6 hours UTC"],
  ["10 */6 * * *", "every 6 hours at minute 10 UTC"],
  ["30 * * * * *", "at second 30 UTC"],
  ["30 * 3 * * *", "at second 30, hour 3 UTC"],
  ["0 */5 * * *", "every day at 00:00, 05:00, 10:00, 15:00 and 20:00 UTC"],
  ["*/7 3 * * *", "at minute */7, hour 3 UTC"],
  ["0,30 * 1 * *", "at minute 0,30, day of the month 1 UTC"],
  ["61 * * * *", '"61 * * * *", which cannot be read: the minute "61" is not from 0 to 59'],
])("%j is due %s", (cron, sentence) => {
  expect(cronSentence({ cron, timeZone: "UTC" })).toBe(sentence);
});
