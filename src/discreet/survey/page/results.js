// The owner's live view. The token is in the fragment of the address, which browsers never send; it goes into a header.
const token = location.hash.slice(1);
const find = id => document.getElementById(id);
const choice = find("choice");
let turn = 0;

async function look() {
  const mine = ++turn;
  const asked = new URLSearchParams(new FormData(choice));
  try {
    const reply = await fetch(`/figures?${asked}`, {headers: {Authorization: `Bearer ${token}`}});
    const text = await reply.text();
    if (mine !== turn) return;
    if (!reply.ok) return say(JSON.parse(text).detail);
    const open = [...document.querySelectorAll("details[open]")].map(one => one.id);
    find("figures").innerHTML = text;  // written by the server, which escapes every word
    open.forEach(id => find(id)?.setAttribute("open", ""));  // what was opened stays open
    say("");
    find("looked").textContent = `Looked at ${new Date().toLocaleTimeString()}; looking again every five seconds.`;
  } catch {
    say("The server does not answer; trying again.");
  }
}

function say(words) {
  if (find("notice").textContent !== words) find("notice").textContent = words;  // a screen reader says it once
}

fetch("/survey.json").then(reply => reply.json()).then(survey => {
  find("title").textContent = survey.title;
  document.title = `Results: ${survey.title}`;
});
choice.addEventListener("input", look);
choice.addEventListener("submit", event => { event.preventDefault(); look(); });
addEventListener("hashchange", () => location.reload());  // another link differs after the # alone
setInterval(() => { if (!document.hidden) look(); }, 5000);
look();
