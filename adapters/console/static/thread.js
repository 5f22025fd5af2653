// What is known of the open thread: rows of history are the truth, chunks of the stream the preview.

export class ThreadState {
  constructor(key) {
    this.key = key;
    this.head = null;
    this.rows = new Map();
    this.plans = [];
    this.inbox = [];
    this.live = [];
    this.echoes = new Map();
    this.sent = new Map();
    this.notices = [];
    this.first = null;
    this.last = 0;
  }

  addRows(rows) {
    for (const row of rows) {
      this.rows.set(row.sequence, row);
      this.echoes.delete(row.id);
      this.sent.delete(row.id);
      this.last = Math.max(this.last, row.sequence);
      this.first = this.first === null ? row.sequence : Math.min(this.first, row.sequence);
    }
  }

  ordered() {
    return [...this.rows.values()].sort((one, other) => one.sequence - other.sequence);
  }

  get waiting() {
    return this.plans.filter((plan) => plan.status === "pending");
  }

  /** Take a chunk; returns what the page should fetch now: any of "rows", "plans", "inbox", "head". */
  take(chunk) {
    const handler = CHUNKS[chunk.type];
    return handler ? handler(this, chunk.payload ?? {}, chunk) ?? [] : [];
  }

  settle() {
    this.live = this.live.filter((step) => !step.finished);
  }

  step() {
    if (!this.live.length || this.live.at(-1).finished) this.openStep(null, null);
    return this.live.at(-1);
  }

  openStep(runId, step) {
    this.live.push({ runId, step, text: "", calls: new Map(), finished: false, since: this.last });
  }

  finishAll() {
    for (const step of this.live) step.finished = true;
  }

  note(kind, text) {
    this.notices.push({ kind, text, key: `${kind}-${this.notices.length}`, after: this.last });
  }
}

const CHUNKS = {
  start(state, _, chunk) {
    state.finishAll();
    state.running = { runId: chunk.runId, step: 1 };
    return ["head"];
  },
  "step-start"(state, payload, chunk) {
    state.running = { runId: chunk.runId, step: payload.step ?? (state.running?.step ?? 0) };
    state.openStep(chunk.runId, payload.step);
    return ["head"];
  },
  "text-delta"(state, payload) {
    state.step().text += payload.text ?? "";
  },
  "tool-call"(state, payload) {
    state.step().calls.set(payload.toolCallId, { name: payload.toolName, args: payload.args });
  },
  "tool-result"(state, payload) {
    settleCall(state, payload, { result: payload.result, isError: Boolean(payload.isError) });
  },
  "tool-error"(state, payload) {
    settleCall(state, payload, { result: payload.error, isError: true });
  },
  "tool-call-suspended": () => ["rows", "plans", "head"],
  "tool-call-approval": () => ["rows", "plans", "head"],
  "step-finish"(state) {
    if (state.live.length) state.live.at(-1).finished = true;
    return ["rows"];
  },
  "step-discarded"(state) {
    state.live.pop();
  },
  finish(state, payload) {
    state.running = null;
    state.finishAll();
    if (payload.stepResult?.reason === "error") return ["rows", "head", "plans"];
    return ["rows", "head", "plans", "inbox"];
  },
  error(state, payload) {
    state.running = null;
    state.finishAll();
    const id = payload.errorId ? ` (error ${payload.errorId})` : "";
    state.note("error", `${words(payload.error)}${id}`);
    return ["rows", "head", "plans"];
  },
  abort(state) {
    state.running = null;
    state.finishAll();
    state.note("stop", "The run was stopped.");
    return ["rows", "head", "plans"];
  },
  "data-user-message"(state, payload) {
    echo(state, payload);
    return ["rows"];
  },
  "data-signal"(state, payload) {
    echo(state, payload);
    return ["rows", "inbox"];
  },
  "data-decision": () => ["plans", "head"],
};

function echo(state, payload) {
  const known = [...state.rows.values()].some((row) => row.id === payload.id);
  if (payload.id && !known) state.echoes.set(payload.id, payload);
}

function settleCall(state, payload, outcome) {
  for (const step of state.live) {
    const call = step.calls.get(payload.toolCallId);
    if (call) Object.assign(call, outcome, { settled: true });
  }
  if (!state.live.some((step) => step.calls.has(payload.toolCallId))) {
    const call = { name: payload.toolName, args: payload.args, settled: true, ...outcome };
    state.step().calls.set(payload.toolCallId, call);
  }
}

function words(error) {
  if (typeof error === "string" && error) return error;
  return error?.message ?? "The run failed.";
}
