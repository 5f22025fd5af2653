// The console: one page that opens a thread, follows its stream, and sends what people say and decide.

import { LISTED, Problem, api, onSessionLost } from "./api.js";
import { drawConversation } from "./conversation.js";
import { byId, h } from "./dom.js";
import { itemsOf, textOf } from "./items.js";
import { People } from "./people.js";
import { drawInbox, drawRun, drawThreads, drawWaiting, titleOf } from "./side.js";
import { Stream } from "./stream.js";
import { ThreadState } from "./thread.js";

const PAGE = 200;
const POLL_MS = 5000;
const SUGGESTIONS = [
  ["Ask for a plan", "Write a plan to move our docs to the new server, and submit it for approval."],
  ["Ask a question", "What can you do for us here?"],
  ["Say hello", "Hello! I am new here. Who reads this conversation?"],
];
const nodes = { head: byId("head"), words: byId("run-state"), stop: byId("stop") };
const app = { resource: "console:local", agents: [], threads: [], state: null, stream: null, dev: false };

const people = new People({ onChange: () => describe(), onProblem: problem });

// ---- opening ---------------------------------------------------------------------------------------------------

async function begin() {
  onSessionLost(renewSession);
  wire();
  const [session, agents] = [await people.load(), await api.agents()];
  Object.assign(app, { resource: session.resourceId, dev: session.dev, agents: agents.agents, defaultAgent: agents.default });
  byId("sample").hidden = !session.dev;
  fillSuggestions();
  await open(keyFromAddress() ?? { resource: app.resource, thread: "main" });
  setInterval(poll, POLL_MS);
}

async function renewSession() {
  const answer = await fetch("/", { redirect: "follow" });
  if (answer.redirected && new URL(answer.url).pathname === "/login") {
    location.assign("/login");
    return false;
  }
  if (!answer.ok) return false;
  if (people.me) await api.pick(people.knows(people.me.id) ? people.me.id : people.me.name).catch(() => null);
  return true;
}

function keyFromAddress() {
  const parts = location.hash.slice(1).split("/").map(decodeURIComponent);
  return parts.length === 2 && parts[0] && parts[1] ? { resource: parts[0], thread: parts[1] } : null;
}

async function open(key) {
  app.stream?.close();
  app.stream = null;
  app.state = new ThreadState(key);
  history.replaceState(null, "", `#${encodeURIComponent(key.resource)}/${encodeURIComponent(key.thread)}`);
  const state = app.state;
  await loadThreads();
  try {
    if (isNew(key)) throw new Problem(404, { message: "Nothing was said here yet." });
    state.head = await api.thread(key);
    const page = await api.newest(key, PAGE);
    state.addRows(page.messages);
    state.complete = page.messages.length < PAGE;
  } catch (error) {
    if (error.status !== 404) problem(error);
  }
  if (state !== app.state) return;
  if (state.head) follow();
  else setLink("idle");
  await refresh(["plans", "inbox"]);
  draw({ jump: true });
}

/** Say whether a thread is surely not there yet: the whole list is known, and it is not in it. */
function isNew(key) {
  return app.threads.length < LISTED && !app.threads.some((one) => isAt(one, key));
}

const isAt = (thread, key) => thread.id === key.thread && thread.resourceId === key.resource;

function follow() {
  const state = app.state;
  app.stream = new Stream(state.key, {
    onChunk: (chunk) => received(state, chunk),
    onOpen: () => refresh(["rows", "head", "plans", "inbox"]),
    onState: setLink,
  });
}

function setLink(state) {
  const words = { live: "Live", lost: "Reconnecting", idle: "Ready" };
  byId("link").dataset.state = state;
  byId("link").textContent = words[state];
}

// ---- what comes in ---------------------------------------------------------------------------------------------

const wanted = new Set();
let fetching = false;

function received(state, chunk) {
  if (state !== app.state) return;
  const what = state.take(chunk);
  if (what.length) refresh(what);
  draw();
}

/** Fetch what is named; calls that come meanwhile are joined into one more round. */
async function refresh(what) {
  for (const word of what) wanted.add(word);
  if (fetching) return;
  fetching = true;
  try {
    while (wanted.size && app.state) {
      const round = [...wanted];
      wanted.clear();
      await Promise.all(round.map((word) => fetchers[word](app.state)));
    }
  } catch (error) {
    if (error.status !== 404) problem(error);
  } finally {
    fetching = false;
    draw();
  }
}

const fetchers = {
  async rows(state) {
    const finished = state.live.filter((step) => step.finished);
    let page;
    do {
      page = await api.after(state.key, state.last);
      announceRows(state, page.messages);
      state.addRows(page.messages);
    } while (page.next);
    state.live = state.live.filter((step) => !finished.includes(step));
  },
  async head(state) {
    state.head = await api.thread(state.key);
    if (state.head.state === "idle") state.running = null;
  },
  async plans(state) {
    state.plans = (await api.plans(state.key)).plans.filter((plan) => plan.resourceId === state.key.resource);
  },
  async inbox(state) {
    state.inbox = state.head ? (await api.inbox(state.key)).notifications : [];
  },
};

function announceRows(state, rows) {
  const spoken = rows.filter((row) => row.role === "assistant" || row.signal?.type === "user");
  const last = spoken.at(-1);
  if (!last) return;
  const who = last.role === "assistant" ? agentName(state.head?.agentId) : last.signal.attributes?.name ?? "Someone";
  if (last.signal?.attributes?.id !== people.me?.id) byId("announce").textContent = `${who}: ${textOf(last.content).slice(0, 300)}`;
}

async function loadThreads() {
  try {
    app.threads = (await api.threads()).threads;
    describe();
  } catch (error) {
    problem(error);
  }
}

async function poll() {
  if (document.hidden || !app.state) return;
  await loadThreads();
  if (app.state.head) refresh(["head", "plans", "inbox"]);
  else await joinOnceMade();
}

/** Somebody else may have begun the conversation that is open here: then follow it too. */
async function joinOnceMade() {
  const { key, head } = app.state;
  if (!head && !isNew(key)) await open(key);
}

// ---- what goes out ---------------------------------------------------------------------------------------------

async function say(text) {
  const state = app.state;
  const queue = byId("queue").checked;
  await ensureThread(state, text);
  const answer = await api.say(state.key, { contents: text, queue });
  const id = answer.signal.id;
  if (![...state.rows.values()].some((row) => row.id === id)) state.sent.set(id, { text, who: { id: people.me.id, name: people.me.name, from: "console" }, waiting: waitingWords(queue, answer) });
  byId("queue").checked = false;
  draw({ jump: true });
  refresh(["rows", "head"]);
  loadThreads();
}

function waitingWords(queue, answer) {
  if (answer.accepted.action !== "deliver") return "";
  return queue ? "Waits for the next turn" : "Will be read at the next step";
}

/** Make the thread before its stream is opened, so that its first chunk is already seen. */
async function ensureThread(state, text) {
  if (state.head) return;
  const body = state.key.thread === "main" ? {} : { title: text.split("\n")[0].slice(0, 60) };
  state.head = await api.makeThread(state.key, body);
  state.complete = true;
  follow();
}

async function decide(plan, action, feedback) {
  try {
    await api.decide(plan.id, { action, ...(feedback ? { feedback } : {}) });
  } catch (error) {
    if (error.status === 409) problem(new Error(decidedWords(error)));
    else throw error;
  } finally {
    await refresh(["plans", "head"]);
  }
  byId("message").focus();
}

function decidedWords(error) {
  const { decidedBy, outcome } = error.details;
  const known = people.people.find((person) => person.id === decidedBy);
  return decidedBy ? `${known?.name ?? decidedBy} was first: ${outcome}.` : error.message;
}

async function answer(plan, data) {
  if (!data.length) throw new Error("Choose or write an answer first.");
  await api.resume(plan.runId, { toolCallId: plan.toolCallId, data });
  await refresh(["plans", "head"]);
}

async function stop() {
  const { aborted } = await api.abort(app.state.key);
  if (!aborted) problem(new Error("Nothing was running any more."));
  await refresh(["rows", "head", "plans"]);
}

async function mark(row, word) {
  await attempt(async () => {
    await api.mark(app.state.key, row.id, word);
    await refresh(["inbox"]);
  });
}

async function sendSample() {
  await ensureThread(app.state, "Sample alert");
  await api.notify(app.state.key, { source: "github", kind: "ci-status", summary: "Build 218 of acme/app failed on main", priority: "high" });
  await refresh(["rows", "head", "inbox"]);
}

async function attempt(work) {
  problem(null);
  try {
    await work();
    return true;
  } catch (error) {
    problem(error);
    return false;
  }
}

// ---- drawing ---------------------------------------------------------------------------------------------------

let drawing = false;
let jumpNext = false;

/** Draw at the next frame; a reader who is at the end stays at the end. */
function draw({ jump = false } = {}) {
  jumpNext ||= jump;
  if (drawing) return;
  drawing = true;
  requestAnimationFrame(() => {
    drawing = false;
    const follow = jumpNext || belowEnd() < 80;
    jumpNext = false;
    drawNow();
    if (follow) scrollDown();
  });
}

/** How far the end of the conversation lies below the message box; on a phone the whole page scrolls. */
function belowEnd() {
  const last = byId("log").lastElementChild;
  if (!last) return 0;
  return last.getBoundingClientRect().bottom - byId("composer").getBoundingClientRect().top;
}

function scrollDown() {
  const scroll = byId("scroll");
  if (getComputedStyle(scroll).overflowY === "visible") window.scrollBy(0, Math.max(0, belowEnd() + 12));
  else scroll.scrollTop = scroll.scrollHeight;
}

function drawNow() {
  const state = app.state;
  const items = itemsOf(state);
  drawConversation(byId("log"), items, { agentName, decide, answer });
  drawRun(nodes, state.head, state.running, state.waiting.length > 0);
  drawWaiting(byId("waiting"), state.waiting);
  drawInbox(byId("inbox"), state.inbox, mark);
  byId("empty").hidden = items.length > 0;
  byId("earlier").hidden = state.complete !== false;
  describe();
}

function describe() {
  if (!app.state) return;
  const head = app.state.head;
  const name = agentName(head?.agentId);
  drawThreads(byId("thread-list"), shownThreads(), app.state.key, (key) => open(key).then(closeThreads));
  byId("title").textContent = titleOf(head ?? { id: app.state.key.thread });
  byId("subtitle").textContent = `with ${name}`;
  byId("message").placeholder = `Write to ${name} as ${people.me?.name ?? "yourself"}`;
  byId("message-label").textContent = `Message to ${name}`;
}

function shownThreads() {
  const { key, head } = app.state;
  const shown = head ?? { id: key.thread, resourceId: key.resource, state: "idle" };
  const known = app.threads.some((one) => isAt(one, key));
  return known ? app.threads.map((one) => (isAt(one, key) ? shown : one)) : [shown, ...app.threads];
}

function agentName(id) {
  const agent = app.agents.find((one) => one.id === (id ?? app.defaultAgent)) ?? app.agents[0];
  return agent?.name ?? "the agent";
}

function problem(error) {
  byId("problem").hidden = !error;
  byId("problem").textContent = error ? error.message : "";
}

function fillSuggestions() {
  byId("suggestions").replaceChildren(...SUGGESTIONS.map(([name, text]) => h("li", {}, h("button", { type: "button", class: "suggestion", click: () => fill(text) }, h("strong", {}, name), h("span", {}, text)))));
  const demo = app.agents.some((agent) => agent.model?.startsWith("demo"));
  byId("demo-hint").hidden = !demo;
  byId("demo-hint").textContent = "The built-in demo model answers here: it works offline and follows a script. Set INTERLOCK_MODEL and a provider key for a real one.";
}

function fill(text) {
  byId("message").value = text;
  byId("message").focus();
}

// ---- wiring ----------------------------------------------------------------------------------------------------

function wire() {
  byId("composer").addEventListener("submit", submit);
  byId("message").addEventListener("keydown", (event) => {
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) submit(event);
  });
  byId("stop").addEventListener("click", () => attempt(stop));
  byId("sample").addEventListener("click", () => attempt(sendSample));
  byId("earlier").addEventListener("click", () => attempt(earlier));
  byId("new-thread").addEventListener("click", newThread);
  byId("theme").addEventListener("click", switchTheme);
  byId("panel-toggle").addEventListener("click", () => toggle("panel-toggle", "no-panel", false));
  byId("threads-toggle").addEventListener("click", () => toggle("threads-toggle", "threads-open", true));
  window.addEventListener("hashchange", () => keyFromAddress() && open(keyFromAddress()));
  const theme = localStorage.getItem("interlock.theme");
  if (theme) document.documentElement.dataset.theme = theme;
}

async function submit(event) {
  event.preventDefault();
  const box = byId("message");
  const text = box.value.trim();
  if (!text) return;
  box.value = "";
  byId("send").disabled = true;
  if (!(await attempt(() => say(text))) && !box.value) box.value = text;
  byId("send").disabled = false;
  box.focus();
}

async function earlier() {
  const state = app.state;
  const from = Math.max(0, state.first - PAGE - 1);
  const page = await api.after(state.key, from, PAGE);
  state.addRows(page.messages.filter((row) => row.sequence < state.first));
  state.complete = from === 0;
  draw();
}

function newThread() {
  const id = crypto.getRandomValues(new Uint32Array(2)).reduce((text, number) => text + number.toString(36), "t-");
  open({ resource: app.resource, thread: id }).then(closeThreads);
  byId("message").focus();
}

function closeThreads() {
  document.body.classList.remove("threads-open");
  byId("threads-toggle").setAttribute("aria-expanded", "false");
}

function toggle(button, name, expanded) {
  const on = document.body.classList.toggle(name);
  byId(button).setAttribute("aria-expanded", String(on === expanded));
}

function switchTheme() {
  const system = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
  const now = document.documentElement.dataset.theme ?? system;
  const next = now === "dark" ? "light" : "dark";
  document.documentElement.dataset.theme = next;
  localStorage.setItem("interlock.theme", next);
}

begin().catch(problem);
