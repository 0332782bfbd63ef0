"""A worker of tasks in Python. It drives psql, because the standard library has no driver."""
import json
import os
import subprocess
import time

PSQL = ["psql", "--no-psqlrc", "--quiet", "--no-align", "--tuples-only", "--set", "ON_ERROR_STOP=1"]
TAKE = "SELECT to_jsonb(t) FROM millrace.dequeue_next_available_task('{note}') AS t"
IDLE_MAX = 5


def ask(statement, **values):
    """Runs one statement; `:'name'` stands for a value, which psql quotes."""
    settings = [word for name, value in values.items() for word in ("--set", f"{name}={value}")]
    done = subprocess.run(
        [*PSQL, *settings, os.environ["DATABASE_URL"]],
        input=statement,
        text=True,
        capture_output=True,
        check=True,
    )
    return done.stdout.strip()


idle = 0
while idle < IDLE_MAX:
    answer = ask(TAKE)
    task = json.loads(answer) if answer else {"task_id": None}
    if task["task_id"] is None:
        idle += 1
        time.sleep(0.2)
        continue
    idle = 0
    message = json.dumps({"task_id": task["task_id"], "worker": "python"})
    try:
        ask(
            "SELECT millrace.run_function(:'name', :'message'::jsonb)",
            name=task["payload"]["db_function"],
            message=message,
        )
    except subprocess.CalledProcessError as error:
        # The task is not completed: its lease expires, and it comes back.
        ask(
            "SELECT millrace.fail_task(:'task'::bigint, :'problem', :'token')",
            task=task["task_id"],
            problem=error.stderr.strip() or "psql has failed",
            token=task["token"],
        )
        continue
    ask(
        "SELECT millrace.complete_task(:'task'::bigint, :'token')",
        task=task["task_id"],
        token=task["token"],
    )
