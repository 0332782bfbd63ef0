#!/usr/bin/env bash
# A worker of tasks in plain psql and bash: take a task, run its function, complete it. Each step is
# a transaction of its own. A batch is up to 20 tasks, so that psql is not started for each.
set -euo pipefail

task=$(cat <<'SQL'
SELECT * FROM millrace.dequeue_next_available_task('{note}') \gset
\if :{?task_id}
SELECT millrace.run_function(
    :'payload'::jsonb ->> 'db_function',
    jsonb_build_object('task_id', :task_id, 'worker', 'bash')
);
SELECT millrace.complete_task(:task_id, :'token');
\else
\echo idle
\quit
\endif
SQL
)

idle=0
while [ "$idle" -lt 5 ]; do
    answer=$(
        for _ in {1..20}; do printf '%s\n' "$task"; done |
            psql --no-psqlrc --quiet --no-align --tuples-only --set ON_ERROR_STOP=1 "$DATABASE_URL"
    )
    case "$answer" in
        *idle*) idle=$((idle + 1)) && sleep 0.2 ;;
        *) idle=0 ;;
    esac
done
