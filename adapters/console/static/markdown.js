// Markdown as DOM nodes: headings, lists, quotes, code, links; nothing else. Data is never parsed as HTML.

import { h } from "./dom.js";

const BLOCKS = [fence, heading, rule, quote, list];

/** Render Markdown text into a fragment of safe nodes. */
export function markdown(text) {
  const fragment = document.createDocumentFragment();
  fragment.append(...blocks(String(text).replaceAll("\r\n", "\n").split("\n")));
  return fragment;
}

// Bounds, so that no hostile text holds up the page.
const DEPTH_MAX = 12;
const LINE_MAX = 4000;
let depth = 0;

function blocks(lines) {
  if (depth >= DEPTH_MAX) return [h("p", {}, lines.join("\n"))];
  depth += 1;
  try {
    return blocksOf(lines);
  } finally {
    depth -= 1;
  }
}

function blocksOf(lines) {
  const nodes = [];
  let at = 0;
  while (at < lines.length) {
    if (!lines[at].trim()) {
      at += 1;
      continue;
    }
    const found = BLOCKS.map((block) => block(lines, at)).find(Boolean) ?? paragraph(lines, at);
    nodes.push(found.node);
    at = found.next;
  }
  return nodes;
}

function fence(lines, at) {
  const open = /^\s{0,3}(`{3,}|~{3,})\s*([\w+-]*)/.exec(lines[at]);
  if (!open) return null;
  let end = at + 1;
  while (end < lines.length && !lines[end].trimStart().startsWith(open[1])) end += 1;
  const code = h("code", { "data-language": open[2] || null }, lines.slice(at + 1, end).join("\n"));
  return { node: h("pre", { tabindex: "0" }, code), next: end + 1 };
}

function heading(lines, at) {
  const found = /^(#{1,6})\s+(.*?)\s*#*$/.exec(lines[at]);
  if (!found) return null;
  // The page's own headings come first: a message starts at level three.
  const level = Math.min(6, found[1].length + 2);
  return { node: h(`h${level}`, {}, ...inline(found[2])), next: at + 1 };
}

function rule(lines, at) {
  return /^\s{0,3}([-*_])(\s*\1){2,}\s*$/.test(lines[at]) ? { node: h("hr"), next: at + 1 } : null;
}

function quote(lines, at) {
  let end = at;
  while (end < lines.length && /^\s{0,3}>/.test(lines[end])) end += 1;
  if (end === at) return null;
  const inner = lines.slice(at, end).map((line) => line.replace(/^\s{0,3}>\s?/, ""));
  return { node: h("blockquote", {}, ...blocks(inner)), next: end };
}

const ITEM = /^(\s*)([-*+]|\d{1,9}[.)])\s+(.*)$/;

function list(lines, at) {
  const first = ITEM.exec(lines[at]);
  if (!first) return null;
  const ordered = /\d/.test(first[2]);
  const node = h(ordered ? "ol" : "ul", ordered ? { start: parseInt(first[2], 10) } : {});
  let next = at;
  while (next < lines.length) {
    const item = ITEM.exec(lines[next]);
    if (!item || item[1].length !== first[1].length || /\d/.test(item[2]) !== ordered) break;
    const end = itemEnd(lines, next + 1, first[1].length);
    const inner = lines.slice(next + 1, end).map((line) => line.slice(Math.min(indent(line), first[1].length + 2)));
    node.append(listItem(item[3], inner));
    next = end;
  }
  return { node, next };
}

function itemEnd(lines, at, margin) {
  let end = at;
  while (end < lines.length && lines[end].trim() && indent(lines[end]) > margin) end += 1;
  return end;
}

function listItem(text, inner) {
  const task = /^\[([ xX])\]\s+(.*)$/.exec(text);
  const mark = task ? h("span", { class: "task", "aria-hidden": "true" }, task[1] === " " ? "☐ " : "☑ ") : null;
  return h("li", {}, mark, ...inline(task ? task[2] : text), ...blocks(inner));
}

const indent = (line) => line.length - line.trimStart().length;

function paragraph(lines, at) {
  let end = at + 1;
  while (end < lines.length && lines[end].trim() && !BLOCKS.some((block) => block(lines, end))) end += 1;
  const pieces = lines.slice(at, end).flatMap((line, index) => [...(index ? [h("br")] : []), ...inline(line)]);
  return { node: h("p", {}, ...pieces), next: end };
}

const INLINE = [
  { find: /(`+)(.+?)\1/, make: (found) => h("code", {}, found[2]) },
  { find: /\[([^\]\n]{1,500})\]\(([^\s()]{1,2000})\)/, make: (found) => link(found[2], inline(found[1]), found[0]) },
  { find: /\bhttps?:\/\/[^\s<>"')\]]{1,2000}/, make: (found) => link(found[0], [found[0]], found[0]) },
  { find: /\*\*(?=\S)(.+?)\*\*/, make: (found) => h("strong", {}, ...inline(found[1])) },
  { find: /(?<![\w*])([*_])(?=\S)((?:`[^`\n]+`|(?!\1).)+?)\1(?![\w*])/, make: (found) => h("em", {}, ...inline(found[2])) },
  { find: /~~(?=\S)(.+?)~~/, make: (found) => h("del", {}, ...inline(found[1])) },
];

/** Render one line's marks; the earliest match wins, the rest stays text. */
function inline(text) {
  if (text.length > LINE_MAX) return [text];
  const nodes = [];
  let rest = text;
  while (rest) {
    const first = earliest(rest);
    if (!first) break;
    if (first.found.index) nodes.push(rest.slice(0, first.found.index));
    nodes.push(first.kind.make(first.found));
    rest = rest.slice(first.found.index + first.found[0].length);
  }
  if (rest) nodes.push(rest);
  return nodes;
}

function earliest(text) {
  let best = null;
  for (const kind of INLINE) {
    const found = kind.find.exec(text);
    if (found && (!best || found.index < best.found.index)) best = { kind, found };
  }
  return best;
}

function link(target, children, plain) {
  let url;
  try {
    url = new URL(target);
  } catch {
    return document.createTextNode(plain);
  }
  if (url.protocol !== "https:" && url.protocol !== "http:") return document.createTextNode(plain);
  return h("a", { href: url.href, target: "_blank", rel: "noopener noreferrer nofollow" }, ...children);
}
