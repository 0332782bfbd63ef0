/**
 * A worker that knows SQL alone: the loop of the specification, on the five functions that it may
 * call. It deletes objects in the folder, and has no messages to send.
 */
import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { Client } from "pg";
import { value } from "../src/queries.ts";

interface Task {
  readonly task_id: string;
  readonly task_type: string;
  readonly payload: any;
}

export interface SqlWorkerOptions {
  readonly folder: string;
  /** How often each handler is called for one step: a repeat is what a crash makes. */
  readonly times?: number;
}

/** Takes and completes a task. Returns it, or null if none is due. */
export async function workOnce(client: Client, options: SqlWorkerOptions): Promise<Task | null> {
  const found = "SELECT to_jsonb(task) FROM queues.dequeue_next_available_task() AS task";
  const task: Task = await value(client, found);
  if (task.task_id === null) return null;
  const call = async (name: string, payload: unknown): Promise<any> => {
    let answer: unknown;
    for (let n = 0; n < (options.times ?? 1); n += 1) {
      const text = "SELECT internal.run_function($1, $2)";
      answer = await value(client, text, name, JSON.stringify(payload));
    }
    return answer;
  };
  try {
    if (task.task_type === "db_function") await call(task.payload.db_function, task.payload);
    else await useChannel(task, options.folder, call);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    await client.query("SELECT queues.fail_task($1, $2)", [task.task_id, message]);
    // Nothing of a supervisor that raised an error has happened: its lease expires, and the task
    // comes back. A channel has told its failure to the error handler.
    if (task.task_type === "db_function") return task;
  }
  await client.query("SELECT queues.complete_task($1)", [task.task_id]);
  return task;
}

type Call = (name: string, payload: unknown) => Promise<any>;

async function useChannel({ task_type, payload }: Task, folder: string, call: Call): Promise<void> {
  const prepared = await call(payload.before_handler, payload);
  const worker_payload = {};
  try {
    if (task_type === "file_delete") await remove(folder, prepared.payload);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    await call(payload.error_handler, { original_payload: payload, error: message });
    throw error;
  }
  await call(payload.success_handler, { original_payload: payload, worker_payload });
}

async function remove(folder: string, file: { bucket: string; object_key: string }): Promise<void> {
  if (!existsSync(join(folder, file.bucket))) throw new Error(`no bucket ${file.bucket}`);
  await rm(join(folder, file.bucket, file.object_key), { force: true });
}
