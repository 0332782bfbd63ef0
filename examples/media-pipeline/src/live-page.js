/** Shows jobs as they are, and then as they change. The browser restores a lost connection. */
const STATUS_AFTER = {
  "job:enqueued": "pending",
  "job:started": "active",
  "job:retrying": "pending",
  "job:completed": "completed",
  "job:failed": "failed",
  "job:cancelled": "cancelled",
  "job:stale": "stale",
};
const STATUS_OF = { scheduled: "pending", queued: "pending", running: "active" };

const rows = document.querySelector("#jobs");
const status = document.querySelector("#status");
const events = new EventSource("/millrace/api/v1/events?type=media");

events.addEventListener("open", () => (status.textContent = "Live."));
events.addEventListener("error", () => (status.textContent = "The queue does not answer …"));
// Events between the last message and now are no longer kept: begin with a new snapshot.
events.addEventListener("reset", () => location.reload());
events.addEventListener("snapshot", ({ data }) => {
  rows.replaceChildren();
  for (const job of JSON.parse(data).jobs.toReversed()) {
    show(job.id, { status: STATUS_OF[job.state] ?? job.state, phase: job.phase ?? "" });
  }
});
for (const [name, next] of Object.entries(STATUS_AFTER)) {
  events.addEventListener(name, ({ data }) => show(JSON.parse(data).data.id, { status: next }));
}
events.addEventListener("job:progress", ({ data }) => {
  const { id, phase, overall } = JSON.parse(data).data;
  show(id, { phase, progress: `${overall} %` });
});
events.addEventListener("job:deleted", ({ data }) => {
  document.getElementById(JSON.parse(data).data.id)?.remove();
});

/** Writes text only: what a job is called is not ours to trust. */
function show(id, cells) {
  const row = document.getElementById(id) ?? newRow(id);
  for (const [name, text] of Object.entries(cells)) {
    row.querySelector(`[data-cell="${name}"]`).textContent = text;
  }
}

function newRow(id) {
  const row = rows.insertRow(0);
  row.id = id;
  for (const name of ["id", "status", "phase", "progress"]) row.insertCell().dataset.cell = name;
  row.cells[0].textContent = id;
  return row;
}
