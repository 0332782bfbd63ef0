#!/usr/bin/env bash
# A worker of tasks in plain psql and bash: take a task, run its function, complete it. Each step is
# a transaction of its own. A batch is up to 20 tasks, so that psql is not started for each. A task
# whose function raises an error is not completed: its lease expires, and it comes back.
set -euo pipefail

task=$(cat <<'SQL'
\unset task_id
SELECT * FROM millrace.dequeue_next_available_task('{note}') \gset
\if :{?task_id}
SELECT millrace.run_function(
    :'payload'::jsonb ->> 'db_function',
    jsonb_build_object('task_id', :task_id, 'worker', 'bash')
);
\if :ERROR
SELECT millrace.fail_task(:task_id, :'LAST_ERROR_MESSAGE', :'token');
\else
SELECT millrace.complete_task(:task_id, :'token');
\endif
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
            psql --no-psqlrc --quiet --no-align --tuples-only "$DATABASE_URL"
    )
    case "$answer" in
        *idle*) idle=$((idle + 1)) && sleep 0.2 ;;
        *) idle=0 ;;
    esac
done
