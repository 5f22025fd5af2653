// Building the page: nodes only, never markup from data.

/** Make an element: `h("p", {class: "hint"}, "text", child)`; functions become listeners, null children vanish. */
export function h(tag, properties = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) set(node, name, value);
  node.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return node;
}

function set(node, name, value) {
  if (value === null || value === undefined || value === false) return;
  if (typeof value === "function") node.addEventListener(name, value);
  else if (name === "class") node.className = value;
  else if (name === "text") node.textContent = value;
  else node.setAttribute(name, value === true ? "" : String(value));
}

export const byId = (id) => document.getElementById(id);

/**
 * Make the children of `parent` equal to `items` ({key, stamp, build}); a node whose stamp stayed the same is kept,
 * so that open details, focus and half-written feedback survive.
 */
export function reconcile(parent, items) {
  const old = new Map([...parent.children].map((node) => [node.dataset.key, node]));
  let before = parent.firstElementChild;
  for (const item of items) {
    let node = old.get(item.key);
    old.delete(item.key);
    if (!node || node.dataset.stamp !== item.stamp) {
      const wasNext = node && node === before;
      node = rebuilt(item, node);
      if (wasNext) before = node;
    }
    if (node === before) before = before.nextElementSibling;
    else parent.insertBefore(node, before);
  }
  for (const node of old.values()) node.remove();
}

function rebuilt(item, old) {
  const node = item.build();
  node.dataset.key = item.key;
  node.dataset.stamp = item.stamp;
  if (old) {
    const open = old.querySelector("details")?.open;
    if (open && node.querySelector("details")) node.querySelector("details").open = true;
    old.replaceWith(node);
  }
  return node;
}

/** A short time of day, or the date for older things. */
export function clockText(iso) {
  const at = new Date(iso);
  if (Number.isNaN(at.getTime())) return "";
  const today = new Date().toDateString() === at.toDateString();
  return today
    ? at.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" })
    : at.toLocaleDateString([], { day: "numeric", month: "short" });
}

export function timeNode(iso) {
  return iso ? h("time", { datetime: iso, title: new Date(iso).toLocaleString() }, clockText(iso)) : null;
}
