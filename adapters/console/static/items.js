// From what is known of a thread to the list that is shown; no DOM here.

/** Return the items of the conversation, in order: people, agent, tool, card, signal, notice. */
export function itemsOf(state) {
  const rows = state.ordered();
  const known = { results: resultsIn(rows), calls: callsIn(rows), plans: plansByCall(state.plans) };
  const items = rows.flatMap((row) => rowItems(row, state, known));
  const notices = state.notices.map((notice) => ({ kind: "notice", key: notice.key, notice, after: notice.after }));
  return [...placed(items, notices), ...state.live.flatMap((step, index) => liveItems(step, index, rows, known)), ...echoItems(state), ...sentItems(state)];
}

function placed(items, notices) {
  const out = [...items];
  for (const notice of notices) {
    const at = out.findIndex((item) => (item.sequence ?? 0) > notice.after);
    out.splice(at < 0 ? out.length : at, 0, notice);
  }
  return out;
}

function resultsIn(rows) {
  const found = new Map();
  for (const part of rows.flatMap((row) => row.content)) {
    if (part.type === "tool-result") found.set(part.toolCallId, part);
  }
  return found;
}

function callsIn(rows) {
  return new Set(rows.flatMap((row) => row.content).filter((part) => part.type === "tool-call").map((part) => part.toolCallId));
}

function plansByCall(plans) {
  return new Map(plans.map((plan) => [`${plan.runId}/${plan.toolCallId}`, plan]));
}

function rowItems(row, state, known) {
  const base = { sequence: row.sequence, at: row.createdAt };
  if (row.role === "signal") return [{ ...base, key: row.id, ...signalItem(signalOf(row)) }];
  if (row.role !== "assistant") return [];
  const text = textOf(row.content);
  const calls = row.content.filter((part) => part.type === "tool-call");
  return [
    ...(text ? [{ ...base, kind: "agent", key: row.id, text, agentId: state.head?.agentId }] : []),
    ...calls.map((call) => ({ ...base, ...callItem(call, row.runId, known) })),
  ];
}

function signalOf(row) {
  const signal = row.signal ?? { type: "user", tagName: row.type };
  return { ...signal, contents: row.content };
}

function signalItem(signal) {
  const attributes = signal.attributes ?? {};
  const text = typeof signal.contents === "string" ? signal.contents : textOf(signal.contents ?? []);
  const files = Array.isArray(signal.contents) ? signal.contents.filter((part) => part.type === "file") : [];
  if (signal.type === "user" || signal.type === "user-message") {
    return { kind: "person", text, files, who: personOf(attributes) };
  }
  return { kind: "signal", text, tag: signal.tagName ?? signal.type, attributes };
}

function personOf(attributes) {
  const id = String(attributes.id ?? attributes.name ?? "someone");
  return { id, name: String(attributes.name ?? attributes.id ?? "Someone"), from: String(attributes.from ?? "api") };
}

function callItem(call, runId, known) {
  const plan = known.plans.get(`${runId}/${call.toolCallId}`);
  if (plan) return { kind: "card", key: `card-${plan.id}`, plan };
  const result = known.results.get(call.toolCallId);
  return { kind: "tool", key: `call-${call.toolCallId}`, name: call.toolName, args: call.args, settled: Boolean(result), result: result?.result, isError: Boolean(result?.isError) };
}

function liveItems(step, index, rows, known) {
  const committed = isCommitted(step, rows, known);
  const calls = [...step.calls].filter(([id]) => !known.calls.has(id));
  return [
    ...(step.text && !committed ? [{ kind: "agent", key: `live-${index}`, text: step.text, live: !step.finished }] : []),
    ...calls.map(([id, call]) => ({ kind: "tool", key: `call-${id}`, ...call, settled: Boolean(call.settled) })),
  ];
}

function isCommitted(step, rows, known) {
  if ([...step.calls.keys()].some((id) => known.calls.has(id))) return true;
  return rows.some((row) => row.role === "assistant" && row.sequence > step.since && row.runId === step.runId);
}

function echoItems(state) {
  return [...state.echoes].map(([id, echo]) => ({ key: id, at: echo.createdAt, ...signalItem(echo) }));
}

function sentItems(state) {
  return [...state.sent]
    .filter(([id]) => !state.echoes.has(id))
    .map(([id, sent]) => ({ key: id, kind: "person", text: sent.text, files: [], who: sent.who, waiting: sent.waiting }));
}

export function textOf(parts) {
  return parts.filter((part) => part.type === "text").map((part) => part.text).join("\n");
}
