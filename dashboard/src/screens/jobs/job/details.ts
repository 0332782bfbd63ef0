/** What the parts of the page of a job share. */
import type { AnswerOf } from "../../../api/client.ts";

export type Details = AnswerOf<"getJobDetails">;

export interface NeighbourLinks {
  readonly previous: string | null;
  readonly next: string | null;
  readonly keys: Readonly<Record<string, () => void>>;
}
