/** Secrets in command lines: flags with telling names, and the short flags of known programs. */
import { secretInField, type Secret } from "../fields.ts";
import { secretNamed } from "../names.ts";
import { anyOf } from "../patterns.ts";
import { FLAGS_OF_PROGRAMS, LOGIN_FLAGS, PLACES_OF_PROGRAMS } from "../tables/programs.ts";
import { hasDigit, kindsOf, isPlaceholder, isTemplate } from "../values.ts";

/** A flag within a text, without which the text is no command of interest. */
const HAS_FLAG = anyOf(
  /(?:^|\s)(?:-{1,2}[A-Za-z]|\/(?:p|u|pass|user|add|pwd)\b)/,
  /\b(?:add_user|change_password|chpasswd|net user?|configure set|user_pw|input_pw)\b/,
);
const WORD = /"((?:[^"\\]|\\.){0,400})"|'([^']{0,400})'|([^\s"';|&]{1,600})|([;|&\n])/g;
const WORDS_MAX = 4_000;
/** What `docker run -p` takes. */
const PORTS = /^[\d.:-]+(?:\/\w{3,4})?$/;
const PASSWORD: Secret = { set: "passwords", what: "the password of a command" };

export function secretInCommand(text: string): Secret | null {
  if (!HAS_FLAG.test(text)) return null;
  return secretInArguments(split(text));
}

/** A command as a list of words, as `spawn` takes them. */
export function secretInArguments(words: readonly string[]): Secret | null {
  let flags: ReadonlySet<string> = new Set();
  for (const [index, word] of words.entries()) {
    const program = programOf(word);
    flags = FLAGS_OF_PROGRAMS.get(program) ?? flags;
    const next = words[index + 1] ?? "";
    const found =
      ofLogin(word, next) ??
      ofLongFlag(word, next) ??
      (isShortFlag(flags, word, next) ? PASSWORD : null) ??
      ofPlace(words, index, program);
    if (found !== null) return found;
  }
  return null;
}

/** The words of a shell, roughly: a quoted text is one word, and so is a sign between commands. */
function split(text: string): readonly string[] {
  const words: string[] = [];
  for (const [all, double, single] of text.matchAll(WORD)) {
    if (words.length >= WORDS_MAX) break;
    words.push(double ?? single ?? all);
  }
  return words;
}

/** `/usr/bin/mysql` and `mysql.exe` are `mysql`. */
function programOf(word: string): string {
  return word
    .slice(0, 100)
    .toLowerCase()
    .replace(/^.*[/\\]/, "")
    .replace(/\.(?:exe|cmd|bat|sh)$/, "");
}

/** `-u user:password`, `-U user%password`. */
function ofLogin(word: string, next: string): Secret | null {
  const [flag = "", given] = word.split("=", 2);
  if (!LOGIN_FLAGS.has(flag)) return null;
  const password = /^[^\s:%/]{1,80}[:%]([^\s/].{2,200})$/.exec(given ?? next)?.[1];
  if (password === undefined || !isValue(password) || /^\d{1,5}$/.test(password)) return null;
  return PASSWORD;
}

/** `--db-password x`, `--token=x`, `-storepass x`, `/pass:x`. */
function ofLongFlag(word: string, next: string): Secret | null {
  const flag = /^(?:--?|\/)([A-Za-z][\w.-]{1,60})(?:[=:](.{1,300}))?$/.exec(word);
  if (flag === null) return null;
  const value = flag[2] ?? next;
  if (/^pass:.{3,200}$/.test(value)) return isValue(value.slice(5)) ? PASSWORD : null;
  const named = secretNamed(flag[1]!);
  if (named === null || !isValue(value) || value.length < 4) return null;
  const isWord = /^[a-z]+$/.test(value) && flag[2] === undefined && named.form !== "password";
  return isWord ? null : secretInField(named, value);
}

/** `-pPASSWORD` and `-p PASSWORD` of programs that are known for the flag. */
function isShortFlag(flags: ReadonlySet<string>, word: string, next: string): boolean {
  if (flags.has(word)) {
    const isSure = flags.has(`${word}+`) || kindsOf(next) >= 2;
    return isSure && isValue(next) && !PORTS.test(next);
  }
  for (const flag of flags) {
    const isJoined = /[+:]$/.test(flag);
    const start = flag.replace(/\+$/, "");
    if (isJoined && word.startsWith(start)) return isValue(word.slice(start.length));
  }
  return false;
}

/** `net user bob PASSWORD`, `rabbitmqctl add_user bob PASSWORD`, `echo PASSWORD | sudo -S`. */
function ofPlace(words: readonly string[], index: number, program: string): Secret | null {
  if (program === "sudo" && words[index + 1] === "-S" && words[index - 1] === "|") {
    return isValue(words[index - 2] ?? "") ? PASSWORD : null;
  }
  if (program === "chpasswd") {
    const login = words.slice(Math.max(0, index - 3), index + 3).join(" ");
    return /[a-z][\w.-]{0,40}:[^\s/$<]{4,100}/i.test(login) ? PASSWORD : null;
  }
  const place = PLACES_OF_PROGRAMS.find(({ after }) =>
    after.every((word, offset) => words[index + offset]?.toLowerCase() === word),
  );
  if (place === undefined) return null;
  const value = words
    .slice(index + place.after.length)
    .filter((word) => !/^-|^\/\w+(?::|$)/.test(word))[place.skip];
  return value !== undefined && isValue(value) && (hasDigit(value) || place.isSure)
    ? PASSWORD
    : null;
}

function isValue(text: string): boolean {
  if (text.length < 3 || text.startsWith("-") || text === "&&" || /^\$\w/.test(text)) return false;
  return !isPlaceholder(text) && !isTemplate(text);
}
