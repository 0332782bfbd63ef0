/** Addresses that let in everyone who knows them: webhooks, magic links, keys in a query. */
import type { Secret } from "./fields.ts";
import { isGenerated } from "./values.ts";
import { wordSet, wordsOf } from "./words.ts";

const LINK = /https?:\/\/([^\s/?#"'<>]{1,255})(\/[^\s?#"'<>]{1,1000})?(\?[^\s"'<>]{1,2000})?/g;
const PARAMETER = /[?&;]([\w.-]{1,40})=([^&#;]{16,1000})/g;
const HOOK_HOST = /^(?:[\w-]{1,40}\.)?(?:web)?hooks?[.-]/i;
/** What stands in a path before the secret of a webhook, and before that of a link by mail. */
const HOOK_STEPS = wordSet("hooks hook webhook webhooks services incomingwebhook callbacks");
const MAIL_STEPS = wordSet(
  "resetpassword passwordreset reset verify verifyemail verification confirm confirmation activate",
  "activation invite invites invitation invitations magic magiclink setpassword recover recovery",
  "unlock onetime passwordless",
);
const SECRET_PARAMETERS = wordSet(
  "code key appid appkey sig sign signature hmac ticket t k tk auth sso token apikey authkey",
  "accesstoken accesskey secret st otp magic invite invitation subscriptionkey",
);
/** In a link by mail, these are secrets as well. */
const MAIL_PARAMETERS = wordSet("hash h c verification confirmation");

/** The secret that an address has in its path or in its query; null: none. */
export function secretInLink(text: string): Secret | null {
  for (const [, host = "", path = "", query = ""] of text.matchAll(LINK)) {
    const steps = path.split("/");
    const names = steps.map((step) => wordsOf(step).join(""));
    const hook = HOOK_HOST.test(host) ? 0 : names.findIndex((name) => HOOK_STEPS.has(name));
    if (hook >= 0 && steps.slice(hook + 1).some(isGenerated)) {
      return { set: "tokens", what: "a webhook address with its secret" };
    }
    const mail = names.findIndex((name) => MAIL_STEPS.has(name));
    const isOfMail = mail >= 0 && steps.slice(mail + 1).some(isGenerated);
    if (isOfMail || hasSecretParameter(query, mail >= 0)) {
      return { set: "tokens", what: "an address with a token" };
    }
  }
  return null;
}

function hasSecretParameter(query: string, isOfMail: boolean): boolean {
  for (const [, name = "", value = ""] of query.matchAll(PARAMETER)) {
    const joined = wordsOf(name).join("");
    const isNamed = SECRET_PARAMETERS.has(joined) || (isOfMail && MAIL_PARAMETERS.has(joined));
    if (isNamed && isGenerated(value)) return true;
  }
  return false;
}
