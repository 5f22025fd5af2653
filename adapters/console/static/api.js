// Talking to the gateway: JSON in, JSON out, problems as errors with words for people.

export class Problem extends Error {
  constructor(status, error) {
    super(error.message);
    this.status = status;
    this.details = error;
  }
}

/** How many conversations the list shows. */
export const LISTED = 100;

const path = (key) => `/api/v1/threads/${encodeURIComponent(key.resource)}/${encodeURIComponent(key.thread)}`;

/** Called once when a session is gone, so that the page can get a new one and go on. */
let renew = null;
export const onSessionLost = (callback) => {
  renew = callback;
};

async function ask(method, url, body, again = true) {
  const response = await reach(method, url, body);
  if (response.status === 401 && again && renew && (await renew())) return ask(method, url, body, false);
  const answer = await response.json().catch(() => ({}));
  if (response.ok) return answer;
  throw new Problem(response.status, answer.error ?? { message: `The gateway answered ${response.status}.` });
}

async function reach(method, url, body) {
  const headers = { "X-Interlock-CSRF": "1" };
  if (body !== undefined) headers["Content-Type"] = "application/json";
  try {
    return await fetch(url, { method, headers, body: body === undefined ? undefined : JSON.stringify(body) });
  } catch {
    throw new Problem(0, { message: "The gateway does not answer. Is it running?" });
  }
}

export const api = {
  session: () => ask("GET", "/api/v1/session"),
  pick: (person) => ask("POST", "/api/v1/session", { person }, false),
  agents: () => ask("GET", "/api/v1/agents"),
  threads: () => ask("GET", `/api/v1/threads?limit=${LISTED}`),
  thread: (key) => ask("GET", path(key)),
  makeThread: (key, body) => ask("PUT", path(key), body),
  newest: (key, limit) => ask("GET", `${path(key)}/messages?newest&limit=${limit}`),
  after: (key, sequence, limit = 500) => ask("GET", `${path(key)}/messages?after=${sequence}&limit=${limit}`),
  say: (key, body) => ask("POST", `${path(key)}/messages`, body),
  notify: (key, body) => ask("POST", `${path(key)}/notifications`, body),
  abort: (key) => ask("POST", `${path(key)}/abort`),
  inbox: (key) => ask("GET", `${path(key)}/inbox?status=pending,delivered,seen&limit=50`),
  mark: (key, id, mark) => ask("POST", `${path(key)}/inbox/${encodeURIComponent(id)}/${mark}`),
  plans: (key) => ask("GET", `/api/v1/plans?kind=any&threadId=${encodeURIComponent(key.thread)}&limit=200`),
  decide: (id, body) => ask("POST", `/api/v1/plans/${encodeURIComponent(id)}/decision`, body),
  resume: (run, body) => ask("POST", `/api/v1/runs/${encodeURIComponent(run)}/resume`, body),
  eventsUrl: (key, cursor) => `${path(key)}/events${cursor ? `?after=${encodeURIComponent(cursor)}` : ""}`,
};
