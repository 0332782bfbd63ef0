/**
 * The part of an error message that does not change from job to job: ids, numbers, times, paths and
 * addresses become `#`.
 */

/** The rest of a longer message is not compared. */
const MESSAGE_LENGTH_MAX = 1_000;

const DAYS = "(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*,?\\s";
const MONTHS = "(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*";
/** The time of day, and a zone such as `GMT+0100 (CET)`. */
const ZONE = "(?:\\s?(?:z|utc|gmt)?(?:[+-]\\d\\d:?\\d\\d)?(?:\\s\\([^)]{1,60}\\))?)";
const CLOCK = `\\d{1,2}:\\d\\d(?::\\d\\d(?:[.,]\\d+)?)?(?:\\s?[ap]m(?![a-z]))?${ZONE}`;

/** In this order: a UUID has digits, and a URL has a path. */
const CHANGING: readonly (readonly [RegExp, string])[] = [
  [/file:\/\/[^\s"'`()]+/gi, "#"],
  // Of a URL the scheme and the host stay: the host names the service that failed.
  [/([a-z][a-z0-9+.-]{1,20}:\/\/)(?:[^\s/"'`@]{1,200}@)?([^\s/"'`:?#)]+)[^\s"'`)]*/gi, "$1$2"],
  [/[\w.+-]{1,64}@[\w-]{1,64}(?:\.[\w-]{1,64})+/g, "#"],
  [/(?<![0-9a-z])[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}(?![0-9a-z])/gi, "#"],
  [new RegExp(`\\d{4}-\\d\\d-\\d\\d(?:[t ]${CLOCK})?`, "gi"), "#"],
  [
    new RegExp(
      `(?:${DAYS})?(?<![a-z])(?:\\d{1,2}\\s${MONTHS}|${MONTHS}\\s\\d{1,2})(?!\\d),?(?:\\s\\d{4})?` +
        `(?:,?\\s${CLOCK})?`,
      "gi",
    ),
    "#",
  ],
  [/(?<![\w:])(?:[0-9a-f]{0,4}:){2,7}(?:[0-9a-f]{1,4}|(?=[\s\])/%]|$))(?![\w:])/gi, "#"],
  [new RegExp(`(?<![\\w:.])${CLOCK}(?![\\w:])`, "gi"), "#"],
  [/(?<![a-z])[a-z]:\\[^\s"'`:*?<>|]+/gi, "#"],
  [/(^|[\s"'`(=[])(?:~|\.{1,2})?\/[^\s"'`:()[\],;]+/g, "$1#"],
  [/(^|[\s"'`(=[])(?:[\w.@-]{1,100}\/){1,30}[\w.@-]{1,100}\.[a-z]\w{0,4}(?!\w)/gi, "$1#"],
  // Job ids, hexadecimal numbers and other random words.
  [/(?<![0-9a-z])(?:0x[0-9a-f]+|[0-9a-f]{8,})(?![0-9a-z])/gi, "#"],
  [/(?<![0-9a-z])(?=[a-z]*\d)[0-9a-z]{16,}(?![0-9a-z])/gi, "#"],
  [/\d+(?:[.,_:]\d+)*(?:\s?(?:ms|s|m|h|d|[kmg]i?b|%)(?![a-z]))?/gi, "#"],
  [/(^|[\s"'`(=,:[])[-+]#/g, "$1#"],
  // A quoted value with an id is an id as a whole.
  [/(?<![a-z])(["'`])[^"'`]*#[^"'`]*\1/gi, '"#"'],
  // A list may have another length in the next message, a duration another unit.
  [/#(?:[\s,;|:]*#)+/g, "#"],
  [/\s+/g, " "],
];

export function normalMessage(message: string): string {
  return CHANGING.reduce(
    (text, [pattern, word]) => text.replace(pattern, word),
    message.slice(0, MESSAGE_LENGTH_MAX),
  ).trim();
}
