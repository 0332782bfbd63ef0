/**
 * Fetches counts and jobs, shows them, and fetches them again every second while the page is
 * visible. Names and errors of jobs are untrusted: they are only ever written as text.
 */

const INTERVAL_MS = 1_000;
const JOBS_SHOWN = 30;
const ERROR_LENGTH_MAX = 160;

const status = document.querySelector("#status");
const signIn = document.querySelector("#sign-in");
const rows = document.querySelector("#jobs");
const none = document.querySelector("#none");
const rowForm = document.querySelector("#row");
const numbers = new Intl.NumberFormat("en");
let timer;

document.addEventListener("visibilitychange", () => {
  clearTimeout(timer);
  if (!document.hidden) void refresh();
});
document.querySelector("#login").addEventListener("submit", (event) => {
  event.preventDefault();
  void logIn(event.target.elements.token);
});
void refresh();

/** Exchanges the token for a session, whose cookie scripts cannot read. */
async function logIn(field) {
  const body = JSON.stringify({ token: field.value.trim() });
  field.value = "";
  const headers = { "content-type": "application/json" };
  try {
    await ask("api/v1/session", { method: "POST", headers, body });
    await refresh();
  } catch (error) {
    say(error.message, true);
  }
}

async function refresh() {
  clearTimeout(timer);
  try {
    const [{ states }, { jobs }] = await Promise.all([
      ask("api/v1/overview"),
      ask(`api/v1/jobs?limit=${JOBS_SHOWN}`),
    ]);
    showCounts(states);
    showJobs(jobs);
    signIn.hidden = true;
    say("Up to date, refreshed every second.");
  } catch (error) {
    signIn.hidden = error.status !== 401;
    const isNetwork = error instanceof TypeError;
    say(isNetwork ? "The server does not answer. Trying again …" : error.message, true);
  }
  clearTimeout(timer);
  if (!document.hidden) timer = setTimeout(() => void refresh(), INTERVAL_MS);
}

async function ask(path, options) {
  const response = await fetch(path, options);
  if (response.ok) return response.json();
  const problem = await response.json().catch(() => ({}));
  const reason = problem.detail ?? problem.title ?? `The server answered ${response.status}.`;
  throw Object.assign(new Error(reason), { status: response.status });
}

function showCounts(states) {
  for (const { state, count, more } of states) {
    const place = document.querySelector(`[data-state="${state}"] .count`);
    write(place, numbers.format(count) + (more ? "+" : ""));
  }
}

/** Rows are reused, so that a selection or the position of a screen reader survives. */
function showJobs(jobs) {
  none.hidden = jobs.length > 0;
  while (rows.rows.length > jobs.length) rows.deleteRow(-1);
  while (rows.rows.length < jobs.length) rows.append(rowForm.content.cloneNode(true));
  for (const [index, job] of jobs.entries()) showJob(rows.rows[index], job);
}

function showJob(row, job) {
  const [type, state, attempts, age, error] = row.cells;
  row.dataset.of = job.state;
  write(type, job.type);
  write(state, job.state.replaceAll("_", " "));
  write(attempts, `${job.attempts} of ${job.maxAttempts}`);
  write(age, ageOf(job.createdAt));
  write(error, troubleOf(job));
}

function troubleOf({ error, cancelReason }) {
  const [line = ""] = (error?.message ?? cancelReason ?? "").split("\n");
  return line.length > ERROR_LENGTH_MAX ? `${line.slice(0, ERROR_LENGTH_MAX)}…` : line;
}

function ageOf(createdAt) {
  const seconds = Math.max(0, Math.round((Date.now() - Date.parse(createdAt)) / 1000));
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3_600)} h`;
  return `${Math.floor(seconds / 86_400)} d`;
}

/** The text states the error; the colour only repeats it. */
function say(text, isTrouble = false) {
  // A screen reader speaks on every write, so unchanged text is not written again.
  write(status, isTrouble ? `Trouble: ${text}` : text);
  status.toggleAttribute("data-trouble", isTrouble);
}

function write(place, text) {
  if (place.textContent !== text) place.textContent = text;
}
