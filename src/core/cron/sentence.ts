/** Says in English when a cron expression is due. */
import { DAY, HOUR, MINUTE, MONTH, readCron, SECOND, WEEKDAY, type CronFields } from "./cron.ts";
import type { CronSpec } from "./slots.ts";

/** The times of a day that are listed one by one. */
const TIMES_MAX = 6;
const NAMES = ["second", "minute", "hour", "day of the month", "month", "day of the week"];
const MONTHS =
  "January February March April May June July August September October November December".split(
    " ",
  );
const DAYS = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];

/** Such as `every day at 03:00 Europe/Berlin`. The fields themselves where there is no sentence. */
export function cronSentence({ cron, timeZone }: CronSpec): string {
  const fields = readCron(cron);
  if (typeof fields === "string") return `"${cron}", which cannot be read: ${fields}`;
  return `${sentence(fields) ?? spelledOut(fields)} ${timeZone}`;
}

function sentence(fields: CronFields): string | null {
  const days = daysOf(fields);
  const rhythm = rhythmOf(fields);
  if (rhythm !== null) return days === "every day" ? rhythm : `${rhythm}, ${days}`;
  const times = timesOf(fields);
  return times === null ? null : `${days} at ${times}`;
}

/** `every 15 minutes` and the like; null: there are fixed times, or another pattern. */
function rhythmOf({ texts, values }: CronFields): string | null {
  const [second, minute, hour] = [texts[SECOND]!, texts[MINUTE]!, texts[HOUR]!];
  const isWholeMinute = values[SECOND]!.join() === "0";
  if (minute === "*" && hour === "*") return everyOf(second, 60, "second") ?? everyMinute();
  if (!isWholeMinute) return null;
  if (hour === "*" && minute.startsWith("*")) return everyOf(minute, 60, "minute");
  if (values[MINUTE]!.length > 1) return null;
  const rhythm = everyOf(hour, 24, "hour");
  return rhythm === null || values[MINUTE]![0] === 0
    ? rhythm
    : `${rhythm} at minute ${values[MINUTE]![0]}`;

  function everyMinute(): string | null {
    return isWholeMinute ? "every minute" : null;
  }
}

/** `*` and steps that divide the whole evenly. */
function everyOf(text: string, whole: number, unit: string): string | null {
  if (text === "*") return `every ${unit}`;
  const step = Number(/^\*\/(\d+)$/.exec(text)?.[1] ?? Number.NaN);
  if (step === 1) return `every ${unit}`;
  return whole % step === 0 && step < whole ? `every ${step} ${unit}s` : null;
}

function timesOf({ texts, values }: CronFields): string | null {
  const [seconds, minutes, hours] = [values[SECOND]!, values[MINUTE]!, values[HOUR]!];
  if (hours.length * minutes.length * seconds.length > TIMES_MAX) return null;
  const hasSeconds = texts[SECOND] !== "0";
  const times = hours.flatMap((hour) =>
    minutes.flatMap((minute) =>
      seconds.map((second) => clockTime(hasSeconds ? [hour, minute, second] : [hour, minute])),
    ),
  );
  return listed(times);
}

function daysOf({ texts, values }: CronFields): string {
  const months = texts[MONTH] === "*" ? null : listed(runs(values[MONTH]!, (n) => MONTHS[n - 1]!));
  const inMonths = months === null ? "" : ` in ${months}`;
  const [hasDays, hasWeekdays] = [texts[DAY] !== "*", texts[WEEKDAY] !== "*"];
  const weekdays = `every ${listed(runs(values[WEEKDAY]!, (n) => DAYS[n]!))}`;
  const days = `on day ${listed(runs(values[DAY]!, String))} of ${months ?? "every month"}`;
  if (hasDays) return hasWeekdays ? `${days} and ${weekdays}${inMonths}` : days;
  return hasWeekdays ? `${weekdays}${inMonths}` : `every day${inMonths}`;
}

/** Three and more values in a row become `Monday to Friday`. */
function runs(values: readonly number[], name: (value: number) => string): string[] {
  const words: string[] = [];
  for (let first = 0; first < values.length;) {
    let last = first;
    while (values[last + 1] === values[last]! + 1) last += 1;
    const isRun = last - first >= 2;
    if (isRun) words.push(`${name(values[first]!)} to ${name(values[last]!)}`);
    else words.push(...values.slice(first, last + 1).map(name));
    first = last + 1;
  }
  return words;
}

function clockTime(parts: readonly number[]): string {
  return parts.map((part) => String(part).padStart(2, "0")).join(":");
}

function listed(words: readonly string[]): string {
  return words.length < 2 ? words.join() : `${words.slice(0, -1).join(", ")} and ${words.at(-1)}`;
}

function spelledOut({ texts }: CronFields): string {
  const parts = texts.flatMap((text, index) => {
    const isShown = index === SECOND ? text !== "0" : text !== "*";
    return isShown ? [`${NAMES[index]} ${text}`] : [];
  });
  return `at ${parts.join(", ")}`;
}
