/** What the log says when the store was closed under a running worker. */
import type { Logger } from "../api/context.ts";
import { MillraceError } from "../core/errors.ts";

const CLOSED =
  "the store was closed while the worker ran: the worker can neither claim jobs nor store the " +
  "ends of its runs. When its lease has expired, other workers take its jobs";

/** A store that is closed stays closed, and each part of a worker would say so at every try. */
export function sayingClosedOnce(logger: Logger): Logger {
  let isSaid = false;
  const unlessSaid =
    (level: "warn" | "error") =>
    (message: string, fields: { readonly error?: unknown } = {}): void => {
      if (!isClosed(fields.error)) logger[level](message, fields);
      else if (!isSaid) {
        isSaid = true;
        logger.error(CLOSED, { error: fields.error });
      }
    };
  return {
    debug: (message, fields) => logger.debug(message, fields),
    info: (message, fields) => logger.info(message, fields),
    warn: unlessSaid("warn"),
    error: unlessSaid("error"),
  };
}

export function isClosed(error: unknown): boolean {
  return error instanceof MillraceError && error.code === "STORE_CLOSED";
}
