/** Addresses of mails: each entry is exactly one, whatever its text looks like to a mail server. */
import { isObject, must, type Rule } from "../api/rules.ts";
import { aHeaderValue } from "./message-rules.ts";

/** `ada@example.com`, `Ada <ada@example.com>`, or the same in two parts. */
export type EmailAddress = string | { readonly name?: string; readonly address: string };

export interface NamedAddress {
  readonly name: string;
  readonly address: string;
}

const RECIPIENTS_MAX = 100;
const ADDRESS = /^[^\s\p{Cc}<>@,;:"()[\]\\]+@[^\s\p{Cc}<>@,;:"()[\]\\]+$/u;
/** A name that is not quoted must not look like another address, or like a list. */
const NAMED = /^(?:"([^"\\]*)"|([^<>@,;:"()[\]\\]*?))\s*<([^<>]+)>$/u;

/** The one address of an entry; null: it is none, or more than one. */
export function addressOf(entry: unknown): NamedAddress | null {
  const { name = "", address } = typeof entry === "string" ? partsOf(entry) : objectParts(entry);
  if (typeof name !== "string" || typeof address !== "string") return null;
  const isOne = ADDRESS.test(address) && !/\p{Cc}/u.test(name);
  return isOne ? { name, address } : null;
}

function partsOf(text: string): { readonly name?: string; readonly address?: string } {
  if (aHeaderValue(text, "") !== null) return {};
  const [, quoted, plain = "", address] = NAMED.exec(text.trim()) ?? [];
  return address === undefined
    ? { address: text.trim() }
    : { name: quoted ?? plain.trim(), address: address.trim() };
}

function objectParts(entry: unknown): { readonly name?: unknown; readonly address?: unknown } {
  const isKnown = isObject(entry) && Object.keys(entry).every((key) => PARTS.includes(key));
  return isKnown ? entry : {};
}

const PARTS: readonly string[] = ["name", "address"];

export const anAddress: Rule = must(
  (value) => addressOf(value) !== null,
  'exactly one address, such as "Ada <ada@example.com>", without line breaks',
);

export function someAddresses(value: unknown, place: string): ReturnType<Rule> {
  const list: readonly unknown[] = Array.isArray(value) ? value : [value];
  if (list.length === 0 || list.length > RECIPIENTS_MAX) {
    return { place, problem: `must have 1 to ${RECIPIENTS_MAX} addresses` };
  }
  return list.map((each) => anAddress(each, place)).find((mismatch) => mismatch !== null) ?? null;
}

/** In two parts, because the library would read a text as a list. */
export function addressesOf(
  given: EmailAddress | readonly EmailAddress[] | undefined,
): readonly NamedAddress[] {
  const list = given === undefined ? [] : [given].flat();
  return list.flatMap((entry) => addressOf(entry) ?? []);
}
