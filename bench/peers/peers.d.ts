/**
 * The part of each peer that is used here, so that the types hold before the peers are installed.
 */

declare module "better-sqlite3" {
  const Sqlite: new (path: string) => object;
  export default Sqlite;
}

declare module "plainjob" {
  interface Logger {
    error(message: string): void;
    warn(message: string): void;
    info(message: string): void;
    debug(message: string): void;
  }
  interface Queue {
    add(type: string, payload: unknown): { id: number };
    addMany(type: string, payloads: unknown[], options: { delay: number }): { ids: number[] };
    close(): void;
  }
  export function better(database: object): object;
  export function defineQueue(options: { connection: object; logger: Logger }): Queue;
  export function defineWorker(
    type: string,
    run: (job: { data: string }) => Promise<void>,
    options: { queue: Queue; logger: Logger; pollIntervall: number },
  ): { start(): Promise<void>; stop(): Promise<void> };
}

declare module "openworkflow" {
  interface Backend {
    stop(): Promise<void>;
  }
  interface Steps {
    run<Output>(step: { name: string }, run: () => Promise<Output>): Promise<Output>;
  }
  export class OpenWorkflow {
    constructor(options: { backend: Backend });
    newWorker(options: { concurrency: number }): { start(): Promise<void>; stop(): Promise<void> };
    defineWorkflow<Input>(
      spec: { name: string },
      run: (parameters: { input: Input; step: Steps }) => void | Promise<void>,
    ): { run(input: Input): Promise<unknown> };
  }
}

declare module "openworkflow/sqlite" {
  export const BackendSqlite: { connect(path: string): { stop(): Promise<void> } };
}

declare module "openworkflow/postgres" {
  export const BackendPostgres: { connect(url: string): Promise<{ stop(): Promise<void> }> };
}

declare module "pg-boss" {
  interface WorkOptions {
    batchSize: number;
    localConcurrency: number;
    burstWhenBatchFull: boolean;
    pollingIntervalSeconds: number;
  }
  export class PgBoss {
    constructor(options: {
      connectionString: string;
      supervise: boolean;
      schedule: boolean;
      useListenNotify: boolean;
    });
    on(event: "error", heard: (error: unknown) => void): this;
    start(): Promise<unknown>;
    stop(options: { graceful: boolean }): Promise<void>;
    createQueue(name: string, options: { notify: boolean }): Promise<void>;
    send(name: string, payload: object): Promise<unknown>;
    insert(name: string, jobs: { data: object; startAfter?: number }[]): Promise<unknown>;
    work(
      name: string,
      options: WorkOptions,
      run: (jobs: { data: any }[]) => Promise<void>,
    ): Promise<string>;
    offWork(name: string, options: { wait: boolean }): Promise<void>;
  }
}

declare module "graphile-worker" {
  export class Logger {
    constructor(factory: () => (level: string, message: string) => void);
    warn(message: string): void;
  }
  interface Producer {
    migrate(): Promise<void>;
    addJob(task: string, payload: unknown): Promise<unknown>;
    addJobs(jobs: { identifier: string; payload: unknown; runAt?: Date }[]): Promise<unknown>;
    release(): Promise<void>;
  }
  export function makeWorkerUtils(options: {
    connectionString: string;
    maxPoolSize: number;
    logger: Logger;
  }): Promise<Producer>;
  export function run(options: {
    preset: { worker: object };
    taskList: Record<string, (payload: any) => void | Promise<void>>;
    parsedCronItems: [];
    noHandleSignals: boolean;
    logger: Logger;
  }): Promise<{ stop(): Promise<void> }>;
}

declare module "ioredis" {
  export interface RedisOptions {
    host: string;
    port: number;
  }
}

declare module "bullmq" {
  type Backend = (options: never) => object;
  export const createPostgresBackend: Backend;
  export function runMigrations(client: object): Promise<number>;
  interface Job {
    waitUntilFinished(events: QueueEvents): Promise<unknown>;
  }
  export class QueueEvents {
    constructor(name: string, options: object, backend?: Backend);
    waitUntilReady(): Promise<unknown>;
    close(): Promise<void>;
  }
  export class Queue<Payload> {
    constructor(name: string, options: object, backend?: Backend);
    on(event: "error", heard: (error: unknown) => void): this;
    add(name: string, payload: Payload): Promise<Job>;
    addBulk(jobs: { name: string; data: Payload; opts?: { delay: number } }[]): Promise<unknown>;
    close(): Promise<void>;
  }
  export class Worker<Payload> {
    constructor(
      queue: string,
      run: (job: { data: Payload }) => Promise<void>,
      options: object,
      backend?: Backend,
    );
    on(event: "error", heard: (error: unknown) => void): this;
    waitUntilReady(): Promise<unknown>;
    close(): Promise<void>;
  }
}
