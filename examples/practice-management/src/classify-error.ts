/** How errors count that say nothing about their class themselves. */
import type { ErrorClass } from "millrace";

const CLASSES: Readonly<Record<string, ErrorClass>> = {
  // A file or row to which the payload refers does not exist: another try finds the same.
  ENOENT: "non_retryable",
  ERR_INVALID_ARG_TYPE: "non_retryable",
  EBUSY: "transient",
  EMFILE: "transient",
  ECONNRESET: "transient",
};

/** `undefined`: the class of the preset, which is `retryable`. */
export function classifyError(error: unknown): ErrorClass | undefined {
  if (error instanceof SyntaxError) return "non_retryable";
  if (!(error instanceof Error) || !("code" in error)) return undefined;
  return CLASSES[String(error.code)];
}
