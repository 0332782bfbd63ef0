/** Mounts the page. */
import { render } from "preact";
import "./styles/tokens.css";
import "./styles/base.css";
import "./styles/shell.css";
import "./styles/parts.css";
import { App } from "./shell/app.tsx";
import { repairLocale } from "./lib/locale.ts";
import { applyPrefs } from "./lib/prefs.ts";

repairLocale();
applyPrefs();
const root = document.querySelector("#root");
if (root !== null) render(<App />, root);
