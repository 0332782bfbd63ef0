/**
 * Compares calls of services with what the store has allowed: no call without a permission, one
 * probe of a service at a time, and no charge for a failure that the breaker has not counted.
 */
import { PRESET } from "../../fleet/jobs.ts";
import type { Actor } from "../../fleet/effects.ts";
import type {
  CallAnswer,
  CallReport,
  ReportAnswer,
  ServiceCall,
  ServiceRun,
} from "../../../../src/store/types/services.ts";
import type { SettleAnswer, SettleItem } from "../../../../src/store/types/jobs-and-runs.ts";
import type { Verb } from "../../../../src/store/verbs.ts";
import type { Report } from "../invariants.ts";
import type { Snapshot } from "../snapshot.ts";
import type { Watch } from "../watch.ts";
import { CLOSED } from "./barriers.ts";

interface ServiceCallsParts {
  readonly watch: Watch;
  readonly report: Report;
  readonly count: (name: string) => void;
}

/** `unknown`: the store has not answered. */
type Permission = CallAnswer["status"] | "unknown";

/** What has happened to a service since its last success or reset. */
interface Trouble {
  counted: number;
  probes: number;
}

export class ServiceCallChecks {
  readonly #parts: ServiceCallsParts;
  readonly #permissions = new Map<string, Permission>();
  /** The runs that were told to try a service, and have not reported. */
  readonly #probes = new Map<string, Map<string, ServiceRun>>();
  readonly #counted = new Set<string>();
  readonly #uncounted = new Set<string>();
  /** Runs whose call of a service has failed, by run. */
  readonly #failed = new Map<string, string>();
  readonly #troubles = new Map<string, Trouble>();

  constructor(parts: ServiceCallsParts) {
    this.#parts = parts;
  }

  /** After a loss of power no run goes on, and the numbers of lost runs are used again. */
  forget(): void {
    const all = [this.#permissions, this.#probes, this.#counted, this.#uncounted, this.#failed];
    for (const each of [...all, this.#troubles]) each.clear();
  }

  /** Called with each commit. */
  adopt(before: Snapshot, after: Snapshot): void {
    if (before.breakers === after.breakers) return;
    for (const [id, row] of after.breakers) {
      const was = before.breakers.get(id);
      const service = after.names.get(id) ?? "";
      if (row.probe_key === null) this.#probes.delete(service);
      const isRelieved = row.failure_count === 0 || row.failure_count < (was?.failure_count ?? 0);
      if (isRelieved) this.#troubles.delete(service);
    }
  }

  answered(nowMs: number, verb: Verb, args: readonly any[], answer: any): void {
    if (verb === "callServices") this.#answeredCalls(nowMs, args[0], answer);
    if (verb === "reportCalls") this.#answeredReports(nowMs, args[0], answer);
    if (verb === "settle") this.#answeredSettle(args[0], answer);
    if (verb !== "claimProbe" || answer === null) return;
    this.#parts.count("probe of a service claimed");
    for (const service of answer.services) this.#probe(service, answer.job);
  }

  /** Without an answer, calls are made, and failures are charged. */
  refused(verb: Verb, args: readonly any[]): void {
    if (verb === "callServices") {
      for (const { run, service } of args[0]) {
        this.#permissions.set(`${nameOf(run)}.${service}`, "unknown");
      }
    }
    if (verb !== "reportCalls") return;
    for (const { run } of args[0]) if (run !== null) this.#counted.add(nameOf(run));
  }

  #answeredCalls(nowMs: number, calls: readonly ServiceCall[], answers: readonly CallAnswer[]) {
    calls.forEach(({ service, run, tenant }, index) => {
      const status = answers[index]?.status ?? "unknown";
      this.#permissions.set(`${nameOf(run)}.${service}`, status);
      this.#parts.count(`call of a service ${status}`);
      if (status === "probe") this.#probe(service, run);
      if (status === "allowed") this.#checkAllowed(service, tenant, nowMs);
    });
  }

  #checkAllowed(service: string, tenant: string, nowMs: number): void {
    const { watch, report } = this.#parts;
    if (!watch.isAlone) return;
    const { breakers, parks, names } = watch.committed;
    const id = [...breakers.keys(), ...[...parks.values()].map((park) => park.service)].find(
      (each) => names.get(each) === service,
    );
    if (id === undefined) return;
    if ((breakers.get(id)?.state ?? CLOSED) !== CLOSED) {
      report("I28", `a call of ${service} was allowed while its breaker is open`);
    }
    const isParked = [...parks.values()].some((park) => {
      const isOwn = park.tenant === null || names.get(park.tenant) === tenant;
      const isAhead = park.asked_at > nowMs;
      return park.service === id && isOwn && park.until > nowMs && !isAhead;
    });
    if (isParked) report("I28", `a call of ${service} was allowed during a pause`);
  }

  /** A run is the probe of a service. No other run may be, unless its end is stored. */
  #probe(service: string, { key, n }: ServiceRun): void {
    const { watch, report } = this.#parts;
    const probes = this.#probes.get(service) ?? new Map<string, ServiceRun>();
    this.#probes.set(service, probes);
    const run = { key, n };
    for (const [name, other] of probes) {
      if (name === nameOf(run)) continue;
      const isOpen = watch.committed.held.get(other.key)?.some((held) => held.n === other.n);
      if (isOpen === true) report("I28", `jobs ${key} and ${other.key} probe ${service} at once`);
    }
    if (!probes.has(nameOf(run))) this.#trouble(service).probes += 1;
    probes.set(nameOf(run), run);
  }

  #trouble(service: string): Trouble {
    const known = this.#troubles.get(service) ?? { counted: 0, probes: 0 };
    this.#troubles.set(service, known);
    return known;
  }

  #answeredReports(
    nowMs: number,
    reports: readonly CallReport[],
    answers: readonly ReportAnswer[],
  ) {
    reports.forEach((told, index) => {
      const answer = answers[index];
      const { service, run } = told;
      const isProbe = run !== null && this.#isProbe(service, run);
      if (told.outcome === "succeeded") {
        if (answer?.changedTo === "closed" && !isProbe && run === null) {
          this.#parts.report("I28", `${service} was closed by a run that is no probe`);
        }
        return;
      }
      this.#probes.get(service)?.delete(nameOf(told.run));
      if (told.outcome !== "failed") return;
      if (told.park !== undefined) this.#checkParked(nowMs, told, answer);
      if (answer?.isCounted === false) {
        this.#parts.count("failure of a service not counted");
        this.#uncounted.add(nameOf(told.run));
        return;
      }
      this.#counted.add(nameOf(told.run));
      if (told.park === undefined || told.park.tenant === null) this.#countFailure(service);
    });
  }

  #isProbe(service: string, run: ServiceRun): boolean {
    return this.#probes.get(service)?.has(nameOf(run)) === true;
  }

  /** An outage costs as many attempts as open a breaker, and one for each probe. */
  #countFailure(service: string): void {
    const { watch, report } = this.#parts;
    const trouble = this.#trouble(service);
    // With a success in the same commit, it cannot be told which came first.
    trouble.counted = watch.isAlone ? trouble.counted + 1 : 0;
    const most = PRESET.breaker.failures + trouble.probes;
    if (trouble.counted > most) {
      report("I28", `an outage of ${service} has cost ${trouble.counted} attempts, not ${most}`);
    }
  }

  /** A pause that a service has asked for is stored, in its full length. */
  #checkParked(
    nowMs: number,
    { service, park, tenant }: Extract<CallReport, { outcome: "failed" }>,
    answer: ReportAnswer | undefined,
  ): void {
    const { watch, report, count } = this.#parts;
    if (!watch.isAlone || park === undefined || answer === undefined) return;
    count(park.tenant === null ? "service parked" : "service parked for a tenant");
    const { parks, names } = watch.committed;
    const isKept = [...parks.values()].some((row) => {
      const isScope = park.tenant === null ? row.tenant === null : isNamed(row.tenant, tenant);
      return names.get(row.service) === service && isScope && row.until >= nowMs + park.forMs;
    });
    function isNamed(id: number | null, name: string): boolean {
      return id !== null && names.get(id) === name;
    }
    if (!isKept) report("I28", `${service} has asked for a pause of ${park.forMs} ms in vain`);
  }

  /** A handler is about to call a service. */
  calls(actor: Actor, service: string): void {
    const { report, count } = this.#parts;
    const run = this.#runOf(actor);
    if (run === null) return;
    const permission = this.#permissions.get(`${nameOf(run)}.${service}`);
    if (permission === "unknown") count("service called without an answer of the store");
    const isAllowed = permission !== undefined && permission !== "refused";
    if (!isAllowed) report("I28", `job ${run.key} calls ${service}: ${permission ?? "not asked"}`);
  }

  /** A handler fails because of a service. */
  failed(actor: Actor, service: string): void {
    const run = this.#runOf(actor);
    if (run !== null) this.#failed.set(nameOf(run), service);
  }

  #runOf({ process, id, fence }: Actor): ServiceRun | null {
    const { keys, held } = this.#parts.watch.committed;
    const key = keys.get(id);
    const run = held.get(key ?? 0)?.find((each) => each.fence === fence);
    return process.isAlive && run !== undefined ? { key: run.key, n: run.n } : null;
  }

  /** A failure is charged exactly when the breaker has counted it. */
  #answeredSettle(items: readonly SettleItem[], answers: readonly SettleAnswer[]): void {
    const { report, count } = this.#parts;
    items.forEach((item, index) => {
      const name = nameOf(item);
      const service = this.#failed.get(name);
      if (answers[index] !== "settled" || service === undefined) return;
      const { outcome } = item.settlement;
      if (outcome === "failed" && !this.#counted.has(name)) {
        report("I28", `job ${item.key} is charged for ${service}, which counted no failure`);
      }
      if (outcome === "failed" && this.#uncounted.has(name)) {
        report("I28", `job ${item.key} is charged for ${service}, which was closed`);
      }
      if (outcome === "snoozed" && this.#counted.has(name)) {
        report("I28", `job ${item.key} is not charged for ${service}, which counted the failure`);
      }
      if (outcome === "snoozed") count("failure of a service free of charge");
    });
  }
}

function nameOf({ key, n }: ServiceRun): string {
  return `${key}.${n}`;
}
