-- name: put_payload_rule
-- Sets a rule in place of the one before.
INSERT INTO millrace.payload_rule (scope, name, rule, owner, by, reason, set_at)
VALUES (
    :scope::text, :name::text, :rule::json, 'operator', :by::text, :reason::text,
    millrace.clock_at(:now::timestamptz)
)
ON CONFLICT (scope, name) DO UPDATE
SET rule = excluded.rule, owner = excluded.owner, by = excluded.by, reason = excluded.reason,
    set_at = excluded.set_at;

-- name: declare_payload_rule
-- Stores a rule of code, unless an operator has set or removed the rule of the target.
INSERT INTO millrace.payload_rule (scope, name, rule, owner, set_at)
VALUES (
    :scope::text, :name::text, :rule::json, 'code', millrace.clock_at(:now::timestamptz)
)
ON CONFLICT (scope, name) DO UPDATE
SET rule = excluded.rule, set_at = excluded.set_at
WHERE payload_rule.owner = 'code' AND payload_rule.rule::text <> excluded.rule::text;

-- name: empty_payload_rule
-- Removes a rule of code. The row stays without a rule, so that code does not declare it again.
UPDATE millrace.payload_rule
SET rule = '{}', owner = 'operator', by = :by::text, reason = :reason::text,
    set_at = millrace.clock_at(:now::timestamptz)
WHERE scope = :scope::text AND name = :name::text AND owner = 'code';

-- name: delete_payload_rule
-- Removes a rule of an operator.
DELETE FROM millrace.payload_rule
WHERE scope = :scope::text AND name = :name::text AND owner = 'operator';

-- name: payload_rules
-- All rules, by scope and name.
-- returns: scope text, name text, rule text, owner text, by text?, reason text?, set_at bigint
-- timeout: reader
SELECT scope, name, rule::text AS rule, owner, by, reason, millrace.ms_of(set_at) AS set_at
FROM millrace.payload_rule
ORDER BY scope COLLATE "C", name COLLATE "C";
