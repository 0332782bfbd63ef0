/** A worker in a process of its own, which the test kills: its arguments are URLs. */
import { openMillrace } from "millrace";
import { jobsOf } from "../src/worker.ts";

const [url = "", smtp = "", sms = "", files = ""] = process.argv.slice(2);

const mill = await openMillrace(url);
mill.work({ jobs: jobsOf({ smtp, sms, files }), lease: "1s" });
