-- name: put_payload_rule
-- Sets a rule in place of the one before.
INSERT INTO millrace_payload_rule (scope, name, rule, owner, by, reason, set_at)
VALUES (:scope, :name, :rule, 'operator', :by, :reason, :now)
ON CONFLICT (scope, name) DO UPDATE
SET rule = excluded.rule, owner = excluded.owner, by = excluded.by, reason = excluded.reason,
    set_at = excluded.set_at;

-- name: declare_payload_rule
-- Stores a rule of code, unless an operator has set or removed the rule of the target.
INSERT INTO millrace_payload_rule (scope, name, rule, owner, set_at)
VALUES (:scope, :name, :rule, 'code', :now)
ON CONFLICT (scope, name) DO UPDATE
SET rule = excluded.rule, set_at = excluded.set_at
WHERE millrace_payload_rule.owner = 'code' AND millrace_payload_rule.rule <> excluded.rule;

-- name: empty_payload_rule
-- Removes a rule of code. The row stays without a rule, so that code does not declare it again.
UPDATE millrace_payload_rule
SET rule = '{}', owner = 'operator', by = :by, reason = :reason, set_at = :now
WHERE scope = :scope AND name = :name AND owner = 'code';

-- name: delete_payload_rule
-- Removes a rule of an operator.
DELETE FROM millrace_payload_rule
WHERE scope = :scope AND name = :name AND owner = 'operator';

-- name: payload_rules
-- All rules, by scope and name.
-- returns: scope text, name text, rule text, owner text, by text?, reason text?, set_at integer
SELECT scope, name, rule, owner, by, reason, set_at
FROM millrace_payload_rule
ORDER BY scope, name;
