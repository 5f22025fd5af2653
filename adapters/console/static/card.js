// A card that waits for people: a plan, an approval, a question; and what became of it.

import { h, clockText } from "./dom.js";
import { markdown } from "./markdown.js";

const KINDS = { plan: "Plan", approval: "Approval", question: "Question", tool: "Waiting tool" };
const STATES = { pending: "Waiting for a decision", approved: "Approved", rejected: "Rejected", answered: "Answered", expired: "Expired", cancelled: "Cancelled" };

export function card(plan, context) {
  const id = `card-${plan.id}`;
  const title = h("h3", { id: `${id}-title` }, plan.kind === "question" ? "A question for you" : plan.title || "Untitled plan");
  const label = h("p", { class: "card-kind" }, KINDS[plan.kind] ?? plan.kind, plan.kind === "plan" ? ` · version ${plan.version}` : "");
  const lamp = h("span", { class: `lamp ${plan.status}`, "aria-hidden": "true" });
  const state = h("p", { class: `card-state ${plan.status}` }, lamp, stateText(plan));
  const foot = plan.status === "pending" ? answers(plan, context, id) : null;
  return h("article", { class: `card ${plan.status}`, id, tabindex: "-1", "aria-labelledby": `${id}-title` }, label, title, body(plan), state, foot);
}

function body(plan) {
  if (plan.kind === "plan") return h("div", { class: "prose" }, markdown(plan.body || plan.document || `(no text at ${plan.path})`));
  if (plan.kind === "question") return h("div", { class: "prose" }, markdown(plan.args?.question ?? ""));
  return h("pre", { tabindex: "0" }, JSON.stringify(plan.args ?? plan.payload ?? {}, null, 2));
}

export function stateText(plan) {
  const decision = plan.decision;
  if (!decision) return STATES[plan.status] ?? plan.status;
  const who = decision.by.name ?? decision.by.id;
  const why = decision.feedback ? `: “${decision.feedback}”` : "";
  return `${STATES[plan.status] ?? plan.status} by ${who} at ${clockText(decision.at)}${why}`;
}

function answers(plan, context, id) {
  return plan.kind === "question" || plan.kind === "tool" ? question(plan, context, id) : decision(plan, context, id);
}

function decision(plan, context, id) {
  const feedback = h("textarea", { id: `${id}-feedback`, rows: "2", maxlength: "20000", placeholder: "What should change?" });
  const decide = (action) => busy(form, () => context.decide(plan, action, feedback.value.trim()));
  const form = h(
    "form",
    { class: "answers", submit: (event) => event.preventDefault() },
    h("label", { for: `${id}-feedback` }, "Feedback (optional)"),
    feedback,
    h("div", { class: "buttons" }, h("button", { type: "button", class: "approve", click: () => decide("approved") }, "Approve"), h("button", { type: "button", class: "reject", click: () => decide("rejected") }, "Reject")),
    h("p", { class: "problem", role: "alert", hidden: true }),
  );
  return form;
}

function question(plan, context, id) {
  const options = plan.args?.options ?? [];
  const many = plan.args?.selectionMode === "multi_select";
  const choices = options.map((option, index) => choice(option, index, many, id));
  const own = h("input", { id: `${id}-own`, maxlength: "20000", autocomplete: "off" });
  const form = h(
    "form",
    { class: "answers", submit: (event) => { event.preventDefault(); busy(form, () => context.answer(plan, given(form, own, many))); } },
    options.length ? h("fieldset", {}, h("legend", {}, many ? "Choose any" : "Choose one"), ...choices) : null,
    h("label", { for: `${id}-own` }, options.length ? "Or in your own words" : "Your answer"),
    own,
    h("div", { class: "buttons" }, h("button", { type: "submit", class: "primary" }, "Answer")),
    h("p", { class: "problem", role: "alert", hidden: true }),
  );
  return form;
}

function choice(option, index, many, id) {
  const name = typeof option === "string" ? option : option.label;
  const input = h("input", { type: many ? "checkbox" : "radio", name: `${id}-choice`, value: name });
  return h("label", { class: "check" }, input, ` ${name}`, option.description ? h("span", { class: "hint" }, ` ${option.description}`) : null);
}

function given(form, own, many) {
  const chosen = [...form.querySelectorAll("fieldset input:checked")].map((input) => input.value);
  const words = own.value.trim();
  if (words) chosen.push(words);
  return many ? chosen : words || chosen[0] || "";
}

async function busy(form, work) {
  const problem = form.querySelector(".problem");
  const buttons = [...form.querySelectorAll("button")];
  for (const button of buttons) button.disabled = true;
  problem.hidden = true;
  try {
    await work();
  } catch (error) {
    problem.textContent = error.message;
    problem.hidden = false;
  } finally {
    for (const button of buttons) button.disabled = false;
  }
}
