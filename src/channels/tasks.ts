/** The payloads of channel tasks, whose fields name the functions to call. */
import type { StandardSchemaV1 } from "@standard-schema/spec";
import { aName, isObject } from "../api/rules.ts";

/**
 * The payload of a channel task. Other fields are JSON for the functions, which get all of them; a
 * type of JSON would refuse interfaces.
 */
export interface ChannelTask {
  /** Answers the message in the payload of its envelope. Without it, the task is the message. */
  readonly before_handler?: string;
  /** Gets `{ original_payload, worker_payload }` when the message was sent. */
  readonly success_handler?: string;
  /** Gets `{ original_payload, error }` when the message could not be sent. */
  readonly error_handler?: string;
  readonly [field: string]: any;
}

/** The payload of a task whose work is a function. */
export interface FunctionTask {
  /** The name of the function, which gets the whole payload. */
  readonly db_function: string;
  readonly [field: string]: any;
}

const HANDLERS = ["before_handler", "success_handler", "error_handler"] as const;

export const CHANNEL_TASK: StandardSchemaV1<ChannelTask, ChannelTask> = taskSchema((task) =>
  HANDLERS.filter((field) => task[field] !== undefined),
);
export const FUNCTION_TASK: StandardSchemaV1<FunctionTask, FunctionTask> = taskSchema(() => [
  "db_function",
]);

/** Checks the fields that Millrace reads, and no other field. */
function taskSchema<Task>(
  named: (task: Readonly<Record<string, unknown>>) => readonly string[],
): StandardSchemaV1<Task, Task> {
  const validate = (value: unknown): StandardSchemaV1.Result<any> => {
    if (!isObject(value)) return { issues: [{ message: "must be an object" }] };
    const issues = named(value).flatMap((field) => {
      const mismatch = aName(value[field], field);
      return mismatch === null ? [] : [{ message: mismatch.problem, path: [field] }];
    });
    return issues.length === 0 ? { value } : { issues };
  };
  return Object.freeze({ "~standard": { version: 1, vendor: "millrace", validate } as const });
}
