/** What the log says when the store was closed, or moved away, under a running worker. */
import type { Logger } from "../api/context.ts";
import { MillraceError, type ErrorCode } from "../core/errors.ts";

const CLOSED =
  "the store was closed while the worker ran: the worker can neither claim jobs nor store the " +
  "ends of its runs. When its lease has expired, other workers take its jobs";

/** A store that is closed stays closed, and each part of a worker would say so at every try. */
export function sayingClosedOnce(logger: Logger): Logger {
  return sayingOnce(logger, "STORE_CLOSED", (error) => logger.error(CLOSED, { error }));
}

/** The same for an installation that has moved. `onMoved` is called once, after the log line. */
export function sayingMovedOnce(logger: Logger, onMoved: (error: MillraceError) => void): Logger {
  return sayingOnce(logger, "STORE_MOVED", (error) => {
    logger.error(`${error.message}; the worker stops`);
    onMoved(error);
  });
}

/** Only the first error with this code is said. */
function sayingOnce(logger: Logger, code: ErrorCode, say: (error: MillraceError) => void): Logger {
  let isSaid = false;
  const unlessSaid =
    (level: "warn" | "error") =>
    (message: string, fields: { readonly error?: unknown } = {}): void => {
      const { error } = fields;
      if (!hasCode(error, code)) logger[level](message, fields);
      else if (!isSaid) {
        isSaid = true;
        say(error);
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
  return hasCode(error, "STORE_CLOSED");
}

export function isMoved(error: unknown): boolean {
  return hasCode(error, "STORE_MOVED");
}

function hasCode(error: unknown, code: ErrorCode): error is MillraceError {
  return error instanceof MillraceError && error.code === code;
}
