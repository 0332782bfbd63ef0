/** The messages of a stream as a caller may read them. */
import type { StreamEvent, StreamMessage } from "../../api/stream.ts";
import type { Redactor } from "../redaction.ts";
import { redactedJob } from "../views.ts";

/** The JSON of a message, without what the frame of the message says. */
export function messageData(message: StreamMessage, redactor: Redactor): object {
  switch (message.type) {
    case "snapshot": {
      const { jobs, stats } = message;
      return { jobs: jobs.map((job) => redactedJob(job, redactor)), stats };
    }
    case "event": {
      const { at, event, job } = message;
      return { at, event, job, data: eventData(message, redactor) };
    }
    case "reset":
    case "ping":
      return {};
  }
}

function eventData({ event, data }: StreamEvent, redactor: Redactor): object {
  if (event === "job:progress") {
    return "data" in data ? { ...data, data: redactor.value(data.data) } : data;
  }
  if (event === "job:failed") return { ...data, error: redactor.fault(data.error) };
  if (event !== "job:unit" || data.error === undefined) return data;
  return { ...data, error: redactor.fault(data.error) };
}
