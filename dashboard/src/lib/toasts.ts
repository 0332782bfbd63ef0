/** Short messages about what a person has just done. */
import { signal } from "@preact/signals";
import { ApiProblem } from "../api/client.ts";
import { href } from "./router.ts";

export interface Toast {
  readonly id: number;
  readonly tone: "good" | "bad";
  readonly title: string;
  readonly text?: string;
  readonly link?: { readonly text: string; readonly href: string };
}

export const toasts = signal<readonly Toast[]>([]);

const SHOWN_MS = 6_000;
const SHOWN_MAX = 4;
let last = 0;

/** Shows a message. A failure stays until it is closed. */
export function toast(message: Omit<Toast, "id">): void {
  const id = (last += 1);
  toasts.value = [...toasts.value, { ...message, id }].slice(-SHOWN_MAX);
  if (message.tone === "good") setTimeout(() => closeToast(id), SHOWN_MS);
}

export function closeToast(id: number): void {
  toasts.value = toasts.value.filter((each) => each.id !== id);
}

/** Says why a call was refused, and what to do. */
export function toastProblem(title: string, error: unknown): void {
  const holder = error instanceof ApiProblem ? error.problem.holder : undefined;
  const link = { text: "Show the holder", href: href(["jobs", holder ?? ""]) };
  toast({
    tone: "bad",
    title,
    text: problemText(error),
    ...(holder === undefined ? {} : { link }),
  });
}

export function problemText(error: unknown): string {
  if (error instanceof ApiProblem) {
    const { hint, errors = [] } = error.problem;
    const places = errors.map(({ path, message }) => `${path}: ${message}`).join(" ");
    return [error.message, places, hint].filter(Boolean).join(" ");
  }
  return error instanceof Error ? error.message : String(error);
}
