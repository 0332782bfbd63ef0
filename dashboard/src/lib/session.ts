/** Who looks at the page, and what the server lets this person do. */
import { computed, signal } from "@preact/signals";
import { call, isSignedOut, type AnswerOf, type Name } from "../api/client.ts";

export const session = signal<AnswerOf<"getSession"> | null>(null);
export const settings = signal<AnswerOf<"getSettings"> | null>(null);

/** Reads both; at the start and after each sign-in. */
export async function readSession(): Promise<void> {
  session.value = await call("getSession");
  settings.value = await call("getSettings");
  isSignedOut.value = false;
}

export async function signIn(token: string): Promise<void> {
  await call("openSession", { body: { token } });
  await readSession();
}

export async function signOut(): Promise<void> {
  await call("closeSession");
  session.value = null;
  isSignedOut.value = true;
}

const allowed = computed(() => new Set<string>(settings.value?.operations ?? []));

/** Whether a call would be let through: a button that would be refused is not shown. */
export function may(name: Name): boolean {
  return allowed.value.has(name);
}
