/** A phase in the words of this queue: `handler(job, ctx)`. */
import type { Context } from "millrace";
import type { Media, MediaTools } from "./media-pipeline.ts";

/** The job that a handler works on. */
export interface ActiveJob {
  readonly id: string;
  readonly data: Media;
  /** 1 for the first run. */
  readonly attempt: number;
  /** The same for a job and its retries. */
  readonly correlationId: string;
}

/** What a handler may use; `Results` has what the phases before have returned. */
export interface PhaseContext<Results extends object> {
  /** Aborts at a cancel, a timeout or a shutdown. */
  readonly signal: AbortSignal;
  readonly tools: MediaTools;
  /** On disk when it resolves: 0 to 100 of this phase. */
  progress(percent: number): Promise<void>;
  phaseResult<Name extends keyof Results>(phaseName: Name): Results[Name];
  phaseResults(): Readonly<Results>;
}

export type PhaseHandler<Results extends object, Result> = (
  job: ActiveJob,
  ctx: PhaseContext<Results>,
) => Promise<Result>;

/** The handler as a phase of Millrace, which gives payload and context. */
export function asPhase<Results extends object, Result>(
  handler: PhaseHandler<Results, Result>,
): (data: Media, ctx: Context<Results, MediaTools>) => Promise<Result> {
  return (data, ctx) => {
    const { id, correlationId } = ctx.job;
    return handler(
      { id, data, attempt: ctx.attempt, correlationId },
      {
        signal: ctx.signal,
        tools: ctx.deps,
        progress: (percent) => ctx.progress(percent),
        phaseResult: (phaseName) => resultsOf(ctx)[phaseName],
        phaseResults: () => resultsOf(ctx),
      },
    );
  };
}

function resultsOf<Results extends object>({ results }: Context<Results, MediaTools>): Results {
  const known: any = results;
  return known;
}
