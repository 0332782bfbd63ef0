/** Asks for the counts, shows them, and asks again a little later while somebody is looking. */

const INTERVAL_MS = 2_000;

const status = document.querySelector("#status");
const numbers = new Intl.NumberFormat("en");
let timer;

document.addEventListener("visibilitychange", () => {
  clearTimeout(timer);
  if (!document.hidden) void refresh();
});
void refresh();

async function refresh() {
  try {
    const response = await fetch("api/v1/overview");
    if (!response.ok) throw new Error(await reasonOf(response));
    const { states } = await response.json();
    show(states);
    say("Up to date, refreshed every two seconds.");
  } catch (error) {
    const isNetwork = error instanceof TypeError;
    say(isNetwork ? "The server does not answer. Trying again …" : error.message, true);
  }
  if (!document.hidden) timer = setTimeout(() => void refresh(), INTERVAL_MS);
}

function show(states) {
  for (const { state, count, more } of states) {
    const place = document.querySelector(`[data-state="${state}"] .count`);
    place.textContent = numbers.format(count) + (more ? "+" : "");
  }
}

async function reasonOf(response) {
  const problem = await response.json().catch(() => ({}));
  return problem.detail ?? problem.title ?? `The server answered ${response.status}.`;
}

/** The words carry the trouble; the colour only repeats it. */
function say(text, isTrouble = false) {
  const words = isTrouble ? `Trouble: ${text}` : text;
  // A screen reader speaks on every write, so what has not changed is not written again.
  if (status.textContent !== words) status.textContent = words;
  status.toggleAttribute("data-trouble", isTrouble);
}
