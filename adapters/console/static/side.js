// The sides of the page: conversations on the left; run, decisions and inbox in the signal box.

import { h, reconcile, timeNode } from "./dom.js";
import { priorityBadge } from "./conversation.js";

const RUN_WORDS = { idle: "Idle", reserved: "Starting", running: "Working", suspended: "Waiting for a decision" };

export function drawThreads(list, threads, current, open) {
  reconcile(list, threads.map((thread) => {
    const chosen = thread.id === current.thread && thread.resourceId === current.resource;
    return { key: `${thread.resourceId}/${thread.id}`, stamp: JSON.stringify([thread.title, thread.state, chosen, thread.updatedAt]), build: () => threadRow(thread, chosen, open) };
  }));
}

function threadRow(thread, chosen, open) {
  const state = RUN_WORDS[thread.state] ?? thread.state;
  const button = h(
    "button",
    { type: "button", class: "thread", "aria-current": chosen ? "true" : null, click: () => open({ resource: thread.resourceId, thread: thread.id }) },
    h("span", { class: `lamp ${thread.state}`, "aria-hidden": "true" }),
    h("span", { class: "name" }, titleOf(thread)),
    h("span", { class: "hidden" }, `, ${state}`),
    timeNode(thread.updatedAt),
  );
  return h("li", {}, button);
}

export function titleOf(thread) {
  if (thread.title) return thread.title;
  return thread.id === "main" ? "Main line" : `Conversation ${thread.id}`;
}

/** Show what the run is doing; returns the words, so that they can be announced. */
export function drawRun(nodes, head, running, waiting) {
  const state = waiting ? "suspended" : head?.state ?? "idle";
  const going = state === "running" || state === "reserved" || (running && state !== "suspended");
  const step = running?.step ? `, step ${running.step}` : "";
  const mail = head?.mail ? `, ${head.mail} waiting in line` : "";
  const words = `${going ? `Working${step}` : RUN_WORDS[state] ?? state}${mail}`;
  nodes.head.dataset.state = going ? "running" : state;
  if (nodes.words.textContent !== words) nodes.words.textContent = words;
  nodes.stop.hidden = !(going || state === "suspended");
  return words;
}

export function drawWaiting(list, plans) {
  const items = plans.map((plan) => ({ key: plan.id, stamp: plan.status + plan.title, build: () => waitingRow(plan) }));
  reconcile(list, items.length ? items : [nothing("Nothing waits for you.")]);
}

function waitingRow(plan) {
  const title = plan.kind === "question" ? plan.args?.question ?? "A question" : plan.title || "Untitled plan";
  const show = () => {
    const node = document.getElementById(`card-${plan.id}`);
    node?.scrollIntoView({ block: "center" });
    node?.focus();
  };
  return h("li", { class: "row" }, h("span", { class: "lamp pending", "aria-hidden": "true" }), h("span", { class: "grow" }, title), h("button", { type: "button", class: "quiet", click: show, "aria-label": `Show: ${title}` }, "Show"));
}

export function drawInbox(list, rows, mark) {
  const items = rows.map((row) => ({ key: row.id, stamp: row.status + row.updatedAt, build: () => inboxRow(row, mark) }));
  reconcile(list, items.length ? items : [nothing("Nothing new.")]);
}

function inboxRow(row, mark) {
  const unread = row.status === "pending" || row.status === "delivered";
  const act = (word, name) => h("button", { type: "button", class: "quiet", click: () => mark(row, word), "aria-label": `${name}: ${row.summary}` }, name);
  return h(
    "li",
    { class: `row note${unread ? " unread" : ""}` },
    h("p", { class: "byline" }, priorityBadge(row.priority), h("span", { class: "hint" }, `${row.source} · ${row.kind}`), timeNode(row.updatedAt)),
    h("p", { class: "summary" }, row.summary, row.coalescedCount > 1 ? h("span", { class: "hint" }, ` ×${row.coalescedCount}`) : null),
    h("p", { class: "buttons" }, unread ? act("seen", "Seen") : null, act("dismiss", "Dismiss")),
  );
}

const nothing = (text) => ({ key: "nothing", stamp: text, build: () => h("li", { class: "hint" }, text) });
