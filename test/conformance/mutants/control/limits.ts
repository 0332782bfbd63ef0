/** What can go wrong with limits. */
import type { Faults } from "../all.ts";

export const SQLITE_LIMIT_FAULTS: Faults = {
  setLimit: {
    put_limit: [
      ["a new rate has the tokens of the old one", "ELSE excluded.tokens", "ELSE tokens"],
      ["the limit is not replaced", "SET cap = excluded.cap", "SET cap = cap"],
    ],
    "queue/limits.ts": [
      ["the person is forgotten", "owner: OPERATOR, by }", "owner: OPERATOR, by: null }"],
    ],
  },
  limits: {
    "queue/limits.ts": [
      ["limits come in the order of their numbers", ".toSorted(byLimitName)", ""],
    ],
  },
  removeLimit: {
    "queue/limits.ts": [
      ["jobs stay in the queue", 'sql.run("open_limit_gate", { gate });', "void gate;"],
      [
        "a limit of the code is removed",
        "if (row?.owner !== OPERATOR) return undefined;",
        "if (row === undefined) return undefined;",
      ],
    ],
  },
  declareLimits: {
    "queue/limits.ts": [
      [
        "the limit of an operator is replaced",
        "if (row?.owner === OPERATOR) sql",
        "if (row?.owner === 9) sql",
      ],
      [
        "the code is not asked after a removal",
        "if (code_rule !== null) {\n    put(",
        'if (code_rule === "") {\n    put(',
      ],
    ],
  },
  keepPermits: {
    "queue/limits.ts": [
      [
        "the number is raised",
        "Math.min(held, kept.get(limit_id) ?? 0)",
        "kept.get(limit_id) ?? 0",
      ],
      ["what is not named stays", "kept.get(limit_id) ?? 0", "kept.get(limit_id) ?? held"],
      [
        "the limit does not hear of it",
        'sql.run("add_used", { id: limit_id, count: count - held });',
        "",
      ],
    ],
  },
  "claim, with limits": {
    claim_candidates: [["a limit that is used up is not looked at", ":full IS NULL OR", "1 OR"]],
    "runs/claim-limits.ts": [
      ["the permits of each job are not counted", "taken.set(id, (taken.get(id) ?? 0) + 1);", ""],
      [
        "the installation has no limit",
        "[type, tenant, INSTALLATION].flatMap",
        "[type, tenant].flatMap",
      ],
      [
        "permits that are not held are lent",
        "Math.min(own, lent.get(row.id) ?? 0)",
        "lent.get(row.id) ?? 0",
      ],
      ["free permits are not used", "const count = taken - free;", "const count = taken;"],
      ["granted permits are not noted", 'sql.run("add_used", { id, count });', ""],
      ["requests are told for ever", "wantedAt > this.#now - HEARD_MS", "wantedAt > 0"],
      ["requests repeat all the time", "wantedAt <= before", "wantedAt <= this.#now"],
    ],
    "runs/lone-claim.ts": [
      [
        "a lone run needs no permit",
        "return limits === null || (!limits.isClosed && limits.admit([job]).length > 0);",
        "return true;",
      ],
    ],
  },
  "claimAlone, with limits": {
    due_probes: [
      ["a type without a permit is tried", "streak.type NOT IN (SELECT", "0 NOT IN (SELECT"],
    ],
    probe_in_blocked: [
      [
        "a tenant without a permit is tried",
        "tenant NOT IN (SELECT value FROM json_each(:full",
        "0 NOT IN (SELECT value FROM json_each(:full",
      ],
    ],
    probe_in_ready: [
      [
        "a tenant without a permit is tried",
        "front.tenant NOT IN (SELECT value FROM json_each(:full",
        "0 NOT IN (SELECT value FROM json_each(:full",
      ],
    ],
  },
  "claim, with rates": {
    "runs/claim-limits.ts": [
      ["no token is taken", "tokensAt(rate, this.#now) - taken", "tokensAt(rate, this.#now)"],
      ["the time of the next token is not told", "return ms === 0 ? null : ms;", "return null;"],
    ],
  },
  "the queue of a limit": {
    "runs/claim.ts": [
      [
        "a job stays in the queue",
        "if (candidates.some(({ isQueued }) => isQueued)) sql",
        "if (false) sql",
      ],
    ],
    claim_limited: [
      [
        "a closed lane is not looked at",
        "AND lane NOT IN (SELECT name FROM millrace_gate WHERE until IS NULL OR until > :now)",
        "",
      ],
      [
        "another limit is not looked at",
        "AND tenant NOT IN (SELECT value FROM json_each(:full))",
        "",
      ],
    ],
    "queue/gates.ts": [
      [
        "jobs stay where they are blocked",
        "return blocked.length + rehome(session, wanted);",
        "return blocked.length;",
      ],
    ],
    waiting_jobs: [
      ["no job is to be claimed", "OR EXISTS (SELECT 1 FROM millrace_blocked WHERE gate < -2)", ""],
    ],
  },
  "a long queue of a limit": {
    queue_lanes: [["lanes that were not asked for are scanned", ":lanes IS NULL OR", "1 OR"]],
    claim_limited: [
      ["types that the worker does not take", ":types IS NULL OR", "1 OR"],
      ["taken keys are not looked at", "lock.name = front.concurrency", "0"],
    ],
    rehome_limited: [
      [
        "jobs stay although their key is taken",
        "WHERE lock.tenant = front.tenant AND lock.name = front.concurrency",
        "WHERE 0",
      ],
    ],
    "runs/claim-candidates.ts": [
      ["the lanes come one after the other", "found.toSorted(byClaimOrder)", "found"],
    ],
  },
  "permits of a worker that is gone": {
    "runs/workers.ts": [["the permits stay", "dropPermits(session, id);", ""]],
  },
  "claim, with limits of services": {
    limit_targets: [
      [
        "the limit applies to no type",
        "FROM millrace_limit_target",
        "FROM (SELECT id AS limit_id, name AS target FROM millrace_limit_setting)",
      ],
    ],
  },
  "claim, with rates of keys": {
    "queue/key-rates.ts": [
      ["no token is taken", "tokens: tokens - 1, now", "tokens, now"],
      ["jobs without a token start", 'sql.run("lock_spent_key", key);', "return true;"],
    ],
    service_probe_in_blocked: [
      ["a held job without a token is first", "rate.tenant = millrace_blocked.tenant", "0"],
    ],
    service_probe_in_ready: [["a job without a token is first", "rate.tenant = front.tenant", "0"]],
    "runs/lone-claim.ts": [
      [
        "a lone job without a token stops all",
        "const SEARCHES_MAX = 100;",
        "const SEARCHES_MAX = 1;",
      ],
    ],
  },
  "a key without a token, after the clock was ahead": {
    refilled_keys: [
      ["the key waits for the wrong time", "(held_until - :now - 1) * rate_count", "-1"],
    ],
    waiting_jobs: [["no poll finds out", "OR (held_until - :now - 1) * rate_count >= rate_ms", ""]],
  },
  "a key without a token": {
    "queue/key-rates.ts": [
      ["the lock stays", 'session.sql.all("free_spent_key", { tenant, name })', "[]"],
    ],
    acquire_lock: [["units wait for a token", "WHERE job = 0", "WHERE job = -1"]],
  },
  "the queue of a limited service": {
    "services/types.ts": [["jobs stay after a deploy", "openOrKeepQueue(session, type);", ""]],
  },
};

export const POSTGRES_LIMIT_FAULTS: Faults = {
  setLimit: {
    put_limit: [
      ["a new rate has the tokens of the old one", "ELSE excluded.tokens", "ELSE known.tokens"],
      ["the limit is not replaced", "SET cap = excluded.cap", "SET cap = known.cap"],
    ],
  },
  limits: {
    "queue/limits.ts": [
      ["limits come in the order of their numbers", ".toSorted(byLimitName)", ""],
    ],
  },
  removeLimit: {
    "queue/limits.ts": [
      [
        "a limit of the code is removed",
        "if (row?.owner !== OPERATOR) return false;",
        "if (row === undefined) return false;",
      ],
    ],
    release_jobs: [["jobs stay in the queue", "gate.id NOT IN (-1, 0)", "gate.id > 0"]],
  },
  declareLimits: {
    "queue/limits.ts": [
      [
        "the limit of an operator is replaced",
        "if (row?.owner === OPERATOR) {",
        "if (row?.owner === 9) {",
      ],
    ],
  },
  keepPermits: {
    keep_permits: [
      [
        "what is not named stays",
        "coalesce(kept.count, 0))) AS rest",
        "coalesce(kept.count, permit.held))) AS rest",
      ],
      [
        "the limit does not hear of it",
        "SET used = greatest(0, setting.used - (own.held - own.rest))",
        "SET used = setting.used",
      ],
    ],
  },
  "claim, with limits": {
    "functions/claim.sql": [
      [
        "a limit that is used up is not looked at",
        "asker.closed := asker.closed || limits.closed;",
        "",
      ],
      [
        "candidates without a permit are taken",
        "IF permits.kept IS NOT NULL THEN\n            IF is_keyed",
        "IF false THEN\n            IF is_keyed",
      ],
    ],
    "functions/limits.sql": [
      [
        "permits that are not held are lent",
        "least(coalesce(permit.held, 0), coalesce(given.count, 0))",
        "coalesce(given.count, 0)",
      ],
      ["free permits are not used", "need.jobs - limits.free AS more", "need.jobs AS more"],
      [
        "granted permits are not noted",
        "used = setting.used + greatest(0, taken.more)",
        "used = setting.used",
      ],
      [
        "a prefetch takes the whole limit",
        "WHEN to_prefetch THEN setting.cap / 2",
        "WHEN to_prefetch THEN setting.cap",
      ],
      [
        "requests are told for ever",
        "wanted_at > moment - interval '2 seconds'",
        "wanted_at IS NOT NULL",
      ],
      ["requests repeat all the time", "wanted_at <= moment - interval '1 second'", "true"],
    ],
    "functions/claim-alone.sql": [
      [
        "a lone run needs no permit",
        "IF asker.has_limits THEN\n            SELECT",
        "IF false THEN\n            SELECT",
      ],
    ],
  },
  "claimAlone, with limits": {
    "functions/claim-alone.sql": [
      ["limits are not looked at", "used_up := limits.closed;", ""],
      ["a type without a permit is tried", "AND streak.type <> ALL (used_up)", ""],
      ["a tenant without a permit is tried", "AND tenant <> ALL (used_up)\n                 ", ""],
      ["a job without a permit is first", "AND type <> ALL (used_up)", ""],
    ],
    "functions/claim.sql": [["a lone job is not awaited", "used_up := limits.closed;", ""]],
  },
  "claim, with rates": {
    "functions/limits.sql": [
      ["no token is taken", "limits.tokens - need.jobs AS tokens", "limits.tokens AS tokens"],
      [
        "a token needs a new permit",
        "WHERE known.jobs > known.free OR known.has_rate",
        "WHERE known.jobs > known.free",
      ],
    ],
  },
  "the queue of a limit": {
    barriers_in_use: [["a limit that is used up is not noticed", "used >= cap", "used > cap"]],
    "functions/claim.sql": [
      [
        "a job stays in the queue",
        "IF has_queued THEN\n        DELETE",
        "IF false THEN\n        DELETE",
      ],
    ],
    "functions/limits.sql": [
      ["a closed lane is not looked at", "AND hop.lane <> ALL (closed)", ""],
      ["a closed tenant is not looked at", "AND tenant <> ALL (closed)", ""],
    ],
    rehome_limited: [["jobs stay where they are blocked", "WHERE queue.room > 0", "WHERE false"]],
    promote_due: [
      ["no job is to be claimed", "OR EXISTS (SELECT 1 FROM millrace.blocked WHERE gate < -2)", ""],
    ],
  },
  "a long queue of a limit": {
    "functions/limits.sql": [
      ["lanes that were not asked for are scanned", "WHERE hop.lane = ANY (in_lanes) AND", "WHERE"],
      ["types that the worker does not take", "of_types IS NULL OR", "true OR"],
      ["taken keys are not looked at", "lock.name = blocked.concurrency", "false"],
      [
        "the lanes come one after the other",
        "ORDER BY first.priority, first.rank, first.key\n            LIMIT",
        "LIMIT",
      ],
    ],
    rehome_limited: [
      ["jobs stay although their key is taken", "lock.name = front.concurrency", "false"],
    ],
  },
  "permits of a worker that is gone": {
    "runs/rescue.ts": [["the permits stay", "await dropPermits(transaction, worker);", ""]],
    "runs/workers.ts": [["the permits stay", "await dropPermits(transaction, id);", ""]],
  },
  "claim, with limits of services": {
    "functions/limits.sql": [
      ["services are not asked", "WHERE uses.type = place.type", "WHERE false"],
      ["services of a job do not count", "WHERE uses.type = types[turn]", "WHERE false"],
    ],
  },
  "claim, with rates of keys": {
    "functions/claim.sql": [
      ["a job without a permit keeps its lock", "AND due.turn <> ALL (permits.kept)", "AND false"],
    ],
    "functions/key-rates.sql": [
      ["no token is taken", "millrace.key_tokens(rate, moment) - 1,", "rate.tokens,"],
      [
        "jobs without a token start",
        "key_tokens(rate, moment) < 1",
        "key_tokens(rate, moment) < 0",
      ],
    ],
    "functions/claim-probe.sql": [
      ["a held job without a token is first", "rate.tenant = blocked.tenant", "false"],
      ["a job without a token is first", "rate.tenant = front.tenant", "false"],
    ],
    "functions/claim-alone.sql": [
      ["a held job without a token is tried", "rate.tenant = blocked.tenant", "false"],
      ["a job without a token is tried", "rate.tenant = front.tenant", "false"],
      ["a lone job without a token is first", "rate.tenant = ready.tenant", "false"],
    ],
  },
  "a key without a token, after the clock was ahead": {
    "functions/key-rates.sql": [
      [
        "the key waits for the wrong time",
        "rate.rate_count >= rate.rate_ms",
        "rate.rate_count < -1",
      ],
      [
        "the tokens come back at the wrong time",
        "* rate.rate_count > rate.burst::double precision * rate.rate_ms",
        "* rate.rate_count < -1",
      ],
    ],
    promote_due: [
      [
        "no poll finds out",
        "millrace.is_refilled(rate, moment.at)",
        "rate.held_until <= moment.at",
      ],
    ],
  },
  "a key without a token": {
    free_refilled_keys: [["the lock stays", "WHERE lock.job = 0", "WHERE lock.job = -1"]],
    acquire_locks: [["units wait for a token", "WHERE lock.job = 0", "WHERE lock.job = -1"]],
  },
  "the queue of a limited service": {
    release_jobs: [
      ["jobs stay after a deploy", "WHERE limited.target = -3 - gate.id", "WHERE true"],
    ],
  },
};
