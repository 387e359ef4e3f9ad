// The page on which people answer. True answers live in the form and in this script alone; `body` is all that is sent.
import {ThrowAgain, Thrown, machine} from "./chance.js";
import {position, randomize} from "./randomizers.js";
import {atMost, inWords, meaningOf, promiseOf, ruleByHand} from "./words.js";

const find = id => document.getElementById(id);
const token = /^#[0-9a-f]{32}$/.test(location.hash) ? location.hash.slice(1) : null;
const pending = `discreet survey ${token}`;  // a body that was sent and not yet confirmed, so that a retry sends the same
const FINAL = [403, 409, 415, 422];  // what no further try changes
const draws = new Map();
let survey, reports = {}, body = null;

function element(tag, properties = {}, ...children) {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
}

function say(words, kind = "") {
  find("notice").textContent = words;
  find("notice").className = kind;
}

// The questions -------------------------------------------------------------------------------------------------------

function asked(question) {
  const options = Array.isArray(question.terms.domain) ? choices(question) : [numberField(question)];
  const parts = [element("legend", {}, question.ask)];
  if (question.hint) parts.push(element("p", {className: "quiet", id: `hint-${question.name}`}, question.hint));
  const error = element("p", {className: "error", id: `error-${question.name}`});
  const field = element("fieldset", {id: `question-${question.name}`}, ...parts, ...options, error,
    element("details", {}, element("summary", {}, "How this answer is protected"),
      element("p", {className: "quiet"}, promiseOf(question.terms))));
  field.setAttribute("aria-describedby", [question.hint && `hint-${question.name}`, error.id].filter(Boolean).join(" "));
  return field;
}

function choices(question) {
  const made = question.terms.domain.map((name, place) => element("label", {className: "choice"},
    element("input", {type: "radio", name: question.name, value: String(place)}), element("span", {}, name)));
  return question.type === "yes-no" ? made.reverse() : made;  // people read yes first; reports count no as 0
}

function numberField(question) {
  const {lower, upper} = question.terms.domain;
  const input = element("input",
    {type: "text", inputMode: "decimal", name: question.name, autocomplete: "off", spellcheck: false});
  return element("label", {}, `A number from ${lower} to ${upper} `, input);
}

function answerTo(question) {
  const given = new FormData(find("ask")).get(question.name);
  if (given === null || given.trim() === "") throw new RangeError("Please answer this one, too.");
  const {domain} = question.terms;
  if (Array.isArray(domain)) return {words: domain[Number(given)], place: Number(given)};
  if (/,\d{3}$/.test(given.trim())) throw new RangeError("Please leave out marks for thousands.");
  try {
    return {words: given.trim(), place: position(question.terms, given.replace(",", "."))};
  } catch {
    throw new RangeError(`Please type a number from ${domain.lower} to ${domain.upper}.`);
  }
}

// All answers, or null where one is missing; the first such question gets the focus.
function answers() {
  let first = null;
  const found = survey.questions.map(question => {
    const field = find(`question-${question.name}`);
    let answer = null, error = "";
    try { answer = answerTo(question); } catch (problem) { error = problem.message; }
    find(`error-${question.name}`).textContent = error;
    field.querySelectorAll("input").forEach(input => input.setAttribute("aria-invalid", String(error !== "")));
    if (error && !first) first = field.querySelector("input");
    return answer;
  });
  first?.focus();
  return first ? null : found;
}

// What will be sent ---------------------------------------------------------------------------------------------------

function review() {
  const given = answers();
  if (!given) return;
  reports = {};
  find("rows").replaceChildren(...survey.questions.map((question, number) => row(question, given[number])));
  compose();
  show("review");
  find("review-title").focus();
}

function row(question, answer) {
  const drawn = drawnOnce(question, answer.place);
  const sent = element("dd", {className: "sent"});
  const state = element("p", {className: "quiet"});
  state.setAttribute("role", "status");
  const thrown = element("input", {type: "text", autocomplete: "off", spellcheck: false, className: "thrown"});
  const report = found => {
    reports[question.name] = found;
    sent.textContent = found ? inWords(question.terms, found) : "…";
  };
  thrown.addEventListener("input", () => {
    report(byHand(question.terms, answer.place, thrown.value, drawn, state));
    compose();
  });
  report(drawn);
  return element("article", {}, element("h3", {}, question.ask),
    element("dl", {},
      element("div", {}, element("dt", {}, "Your true answer stays here"),
        element("dd", {translate: false}, answer.words)),  // translators get to read what they translate
      element("div", {}, element("dt", {}, "What is sent"), sent)),
    element("details", {}, element("summary", {}, "Throw coins or a die yourself"),
      element("p", {className: "quiet"}, ruleByHand(question.terms)),
      element("label", {}, "Your throws: H and T, or 1 to 6 ", thrown), state));
}

// The browser's draw for an answer. Going back and forth gives the same one: drawing until it fits would hide nothing.
function drawnOnce(question, place) {
  const key = `${question.name} ${place}`;
  if (!draws.has(key)) draws.set(key, randomize(question.terms, place, machine()));
  return draws.get(key);
}

// The report that coins or dice give; null until there are enough throws, and the browser's own without any.
function byHand(terms, place, text, drawn, state) {
  const typed = text.replace(/[\s,.-]/g, "").toUpperCase();
  const coins = /^[HT]+$/.test(typed), die = /^[1-6]+$/.test(typed);
  state.textContent = "";
  if (typed === "") return drawn;
  if (!coins && !die) {
    state.textContent = "Type H for heads and T for tails, or the numbers 1 to 6 of a die.";
    return null;
  }
  const chance = new Thrown([...typed].map(one => coins ? Number(one === "H") : Number(one) - 1), coins ? 2 : 6);
  try {
    const found = randomize(terms, place, chance);
    state.textContent = `Done: ${chance.used} ${chance.used === 1 ? "throw was" : "throws were"} used.`;
    return found;
  } catch (problem) {
    if (!(problem instanceof ThrowAgain)) throw problem;
    state.textContent = "Not decided yet: throw again.";
    return null;
  }
}

function compose() {
  const complete = survey.questions.every(question => reports[question.name]);
  body = complete ? JSON.stringify({
    survey: survey.fingerprint,
    invitation: token,
    reports: Object.fromEntries(survey.questions.map(question => [question.name, {
      fingerprint: question.fingerprint,
      reports: Object.fromEntries(Object.entries(reports[question.name]).map(([name, value]) => [name, [value]])),
    }])),
  }) : null;
  find("body").textContent = body ?? "A throw is missing.";
  find("send").disabled = !body || !token;
}

function show(part) {
  for (const id of ["ask", "review"]) find(id).hidden = id !== part;
}

// Sending -------------------------------------------------------------------------------------------------------------

// A second noisy answer to the same question would say more about the same truth, so a used link sends nothing.
async function isUsed() {
  return (await (await fetch("/invitation", {headers: {Authorization: `Bearer ${token}`}})).json()).used;
}

function refuseSecond() {
  show(null);
  forget();
  say("This link was used before, and nothing was sent: a second noisy answer would tell more about you.", "warning");
}

async function send() {
  lock();
  say("Sending …");
  let reply;
  try {
    if (!sessionStorage.getItem(pending) && await isUsed()) return refuseSecond();
    sessionStorage.setItem(pending, body);
    reply = await fetch("/reports", {method: "POST", headers: {"Content-Type": "application/json"}, body});
  } catch {
    return again("The server did not answer. What you see is kept: try again, and the same noisy answers are sent.");
  }
  if (!reply.ok && !FINAL.includes(reply.status)) return again(await detailOf(reply));
  sessionStorage.removeItem(pending);
  if (!reply.ok) return say(await detailOf(reply), "warning");
  show(null);
  forget();
  say("Thank you. Your noisy answers have arrived, and your true ones were never sent.", "done");
}

// What a refusal says; a proxy, or a server with too many visitors, refuses in words of its own.
async function detailOf(reply) {
  try { return (await reply.json()).detail; } catch { return "The server is busy or out of reach; try again later."; }
}

function again(words) {
  say(words, "warning");
  find("send").disabled = false;
}

// From the first try on the noisy answers are fixed: other ones would say more about the same truth.
function lock() {
  find("send").disabled = true;
  find("back").hidden = find("unsent").hidden = true;
  find("rows").querySelectorAll("input").forEach(input => { input.disabled = true; });
}

// Nothing true stays in the page, not even in parts that are hidden.
function forget() {
  find("ask").reset();
  find("rows").replaceChildren();
  draws.clear();
}

function resume() {
  body = sessionStorage.getItem(pending);
  lock();
  find("body").textContent = body;
  find("bytes").open = true;
  show("review");
  again("An earlier try may not have arrived. Send again: it is the same noisy answers.");
}

async function start() {
  survey = await (await fetch("/survey.json")).json();
  document.title = find("title").textContent = survey.title;
  find("intro").textContent = survey.intro;
  find("promise").textContent = "Chance changes your answers before they leave this page. Answering everything costs you "
    + `at most ε = ${atMost(survey.epsilon)}. ${meaningOf(survey.epsilon)}`;
  if (!token) say("Your link is incomplete, so nothing can be sent: it must end with # and 32 characters.", "warning");
  find("questions").replaceChildren(...survey.questions.map(asked));
  find("ask").addEventListener("submit", event => { event.preventDefault(); review(); });
  find("back").addEventListener("click", () => { show("ask"); find("ask").querySelector("input").focus(); });
  find("send").addEventListener("click", send);
  if (token && sessionStorage.getItem(pending)) resume();
  else if (token && await isUsed()) refuseSecond();
  else show("ask");
}

// Another link differs after the # alone, for which browsers do not load a page again; and they keep pages that were
// left, to show them again as they were.
addEventListener("hashchange", () => location.reload());
addEventListener("pagehide", forget);
addEventListener("pageshow", event => { if (event.persisted) location.reload(); });

start().catch(() => say("The survey could not be loaded; try again later.", "warning"));
