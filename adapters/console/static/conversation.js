// Drawing the conversation: one node per item, kept while it stays the same.

import { h, reconcile, timeNode } from "./dom.js";
import { markdown } from "./markdown.js";
import { card } from "./card.js";

const TAGS = { notification: "Notification", "notification-summary": "Notifications", "system-reminder": "Reminder", state: "State" };
const PLATFORMS = { slack: "Slack", discord: "Discord", console: "Console", api: "API" };

export function drawConversation(log, items, context) {
  reconcile(log, items.map((item) => ({ key: item.key, stamp: stampOf(item), build: () => h("li", { class: `item is-${item.kind}` }, draw[item.kind](item, context)) })));
}

function stampOf(item) {
  return JSON.stringify(item, (name, value) => (name === "sequence" || name === "after" ? undefined : value));
}

const draw = {
  person: (item) => [avatar(item.who), h("div", { class: "body" }, byline(item.who.name, badge(item.who.from), timeNode(item.at)), prose(item.text), ...item.files.map(fileLine), waitingLine(item))],
  agent: (item, context) => {
    const name = context.agentName(item.agentId);
    const body = h("div", { class: `body${item.live ? " live" : ""}` }, byline(name, h("span", { class: "badge" }, "agent"), timeNode(item.at)), prose(item.text));
    return [h("span", { class: "avatar agent", "aria-hidden": "true" }, "◆"), body];
  },
  tool: (item) => [dot(item.isError ? "bad" : item.settled ? "done" : "going"), toolLine(item)],
  card: (item, context) => [dot(item.plan.status === "pending" ? "wait" : "done"), card(item.plan, context)],
  signal: (item) => [dot("signal"), signalLine(item)],
  notice: (item) => [dot(item.notice.kind === "error" ? "bad" : "wait"), h("p", { class: `notice ${item.notice.kind}` }, item.notice.text)],
};

export function avatar(who) {
  const node = h("span", { class: "avatar", "aria-hidden": "true" }, initials(who.name));
  node.style.setProperty("--hue", String(hueOf(who.id)));
  return node;
}

function initials(name) {
  const words = name.trim().split(/\s+/).filter(Boolean);
  const letters = words.length > 1 ? [words[0], words.at(-1)] : words;
  return letters.map((word) => [...word][0]).join("").toUpperCase() || "?";
}

function hueOf(id) {
  let hash = 7;
  for (const character of id) hash = (hash * 31 + character.codePointAt(0)) >>> 0;
  return hash % 360;
}

const byline = (name, ...rest) => h("p", { class: "byline" }, h("strong", {}, name), ...rest);
const badge = (from) => h("span", { class: `badge from-${PLATFORMS[from] ? from : "other"}` }, PLATFORMS[from] ?? from);
const dot = (kind) => h("span", { class: `dot ${kind}`, "aria-hidden": "true" });
const prose = (text) => h("div", { class: "prose" }, markdown(text));
const fileLine = (file) => h("p", { class: "file" }, `Attached: ${file.filename ?? file.mediaType}`);
const waitingLine = (item) => (item.waiting ? h("p", { class: "hint" }, item.waiting) : null);

function toolLine(item) {
  const state = !item.settled ? "running" : item.isError ? "failed" : "done";
  const summary = h("summary", {}, h("code", {}, item.name), h("span", { class: "args" }, brief(item.args)), h("span", { class: `state ${state}` }, state));
  const shown = [h("h3", {}, "Arguments"), block(item.args), ...(item.settled ? [h("h3", {}, "Result"), block(item.result)] : [])];
  return h("details", { class: "tool" }, summary, ...shown);
}

function brief(value) {
  if (value === null || value === undefined) return "";
  const text = typeof value === "object" ? Object.values(value).map(plain).join(", ") : plain(value);
  return text.length > 80 ? `${text.slice(0, 80)}…` : text;
}

const plain = (value) => (typeof value === "string" ? value.split("\n")[0] : JSON.stringify(value));

function block(value) {
  const text = typeof value === "string" ? value : JSON.stringify(value, null, 2) ?? "none";
  return h("pre", { tabindex: "0" }, text.length > 20000 ? `${text.slice(0, 20000)}\n…` : text);
}

function signalLine(item) {
  const source = item.attributes.source ?? item.attributes.from ?? "";
  const priority = item.attributes.priority;
  return h(
    "div",
    { class: "signal-line" },
    h("p", { class: "byline" }, h("strong", {}, TAGS[item.tag] ?? item.tag), source ? h("span", { class: "badge" }, String(source)) : null, priority ? priorityBadge(priority) : null, timeNode(item.at)),
    prose(item.text),
  );
}

const PRIORITIES = new Set(["low", "medium", "high", "urgent"]);

export function priorityBadge(priority) {
  const known = PRIORITIES.has(priority) ? priority : "medium";
  return h("span", { class: `badge priority-${known}` }, String(priority));
}
