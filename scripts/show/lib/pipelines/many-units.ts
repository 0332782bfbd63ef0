/** What the job with many units is told, and what it costs. */

export interface ManyUnits {
  readonly url: string;
  readonly units: number;
  readonly concurrency: number;
}

export interface UnitCosts {
  /** From the first unit to the last, and from the enqueue to the end of the job. */
  readonly eachMs: number;
  readonly jobMs: number;
  /** Calls of `record`, and moves of units in them. */
  readonly records: number;
  readonly moves: number;
  /** From the enqueue to the end of the job, by all parts of the process but the heartbeat. */
  readonly statements: number;
  /** Rows that the statements have written; null where the server counts them. */
  readonly rowsWritten: number | null;
  readonly bytes: {
    readonly rssBefore: number;
    readonly rssPeak: number;
    readonly heapPeak: number;
  };
}
