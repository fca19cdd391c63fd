"use strict";
const $ = (id) => document.getElementById(id);
const make = (tag, name, text) => {
  const element = document.createElement(tag);
  if (name) element.className = name;
  if (text !== undefined) element.textContent = text;
  return element;
};
const store = {  // storage may be forbidden; the page works without
  get(area, name) { try { return JSON.parse(area.getItem("gainz." + name)); } catch { return null; } },
  set(area, name, value) { try { area.setItem("gainz." + name, JSON.stringify(value)); } catch { /* nothing is kept */ } },
};
const say = (text) => { $("status").textContent = text; };

// ---- server ----
const headers = (more) => {
  const key = store.get(sessionStorage, "key");
  return key ? { ...more, authorization: "Bearer " + key } : more;
};
let asking = null;
function askForKey(wrong) {
  asking ??= new Promise((resolve) => {
    $("key-bad").hidden = !wrong;
    $("key-bad").textContent = wrong ? "The server does not know this key." : "";
    $("key").value = "";
    $("key-dialog").showModal();
    $("key-dialog").onclose = () => { asking = null; resolve($("key-dialog").returnValue === "used"); };
  });
  return asking;
}
$("key-form").addEventListener("submit", (event) => {
  event.preventDefault();
  store.set(sessionStorage, "key", $("key").value);
  $("key-dialog").close("used");
});
$("key-cancel").addEventListener("click", () => $("key-dialog").close("cancelled"));

// A request with the key; a 401 asks for one and tries again.
async function call(path, options = {}) {
  for (let wrong = false; ; wrong = true) {
    const response = await fetch(path, { ...options, headers: headers(options.headers) });
    if (response.status !== 401) return response;
    if (!(await askForKey(wrong || store.get(sessionStorage, "key") !== null))) return response;
  }
}
async function reason(response) {
  const text = await response.text();
  try { const error = JSON.parse(text).error; return error.message ?? error; } catch { return text || `The server answered ${response.status}.`; }
}

// ---- Markdown: never as HTML, only as nodes ----
function inline(text, into) {
  const pattern = /(`+)([^`]|[^`][\s\S]*?[^`])\1(?!`)|\*\*([^\s*](?:[\s\S]*?[^\s*])?)\*\*|\*([^\s*](?:[^*]*?[^\s*])?)\*|\[([^\]\n]+)\]\((https?:\/\/[^\s)]+)\)/g;
  let at = 0;
  for (const match of text.matchAll(pattern)) {
    into.append(text.slice(at, match.index));
    at = match.index + match[0].length;
    if (match[2] !== undefined) into.append(make("code", "", match[2]));
    else if (match[3] !== undefined) inline(match[3], into.appendChild(make("strong")));
    else if (match[4] !== undefined) inline(match[4], into.appendChild(make("em")));
    else {
      const link = into.appendChild(make("a", "", match[5]));
      link.href = match[6];
      link.rel = "noopener noreferrer nofollow";
      link.target = "_blank";
    }
  }
  into.append(text.slice(at));
}
const cells = (line) => line.trim().replace(/^\||\|$/g, "").split("|").map((cell) => cell.trim());
function table(lines, into) {
  const element = make("table");
  const head = element.appendChild(make("thead")).appendChild(make("tr"));
  for (const cell of cells(lines[0])) inline(cell, head.appendChild(make("th")));
  const body = element.appendChild(make("tbody"));
  for (const line of lines.slice(2)) {
    const row = body.appendChild(make("tr"));
    for (const cell of cells(line)) inline(cell, row.appendChild(make("td")));
  }
  into.appendChild(make("div", "wide")).append(element);
}
const kItem = /^(\s*)([-*+]|\d{1,9}[.)])\s+/;
const indent = (line) => line.match(/^\s*/)[0].length;
// Items that are set further in than the first are a list inside the item before them.
function list(lines, into) {
  const first = lines[0].match(kItem);
  const element = into.appendChild(make(/\d/.test(first[2]) ? "ol" : "ul"));
  if (/\d/.test(first[2]) && parseInt(first[2]) !== 1) element.start = parseInt(first[2]);
  let item = null;
  for (let i = 0; i < lines.length; ++i) {
    if (item && kItem.test(lines[i]) && indent(lines[i]) > first[1].length + 1) {
      let end = i;
      while (end < lines.length && !(kItem.test(lines[end]) && indent(lines[end]) <= first[1].length + 1)) ++end;
      list(lines.slice(i, end), item);
      i = end - 1;
      continue;
    }
    if (kItem.test(lines[i])) item = element.appendChild(make("li"));
    else item.append("\n");
    inline(lines[i].replace(kItem, "").trim(), item);
  }
}
function block(text, into) {
  const fence = text.match(/^ {0,3}(```+|~~~+)[^\n]*\n?/);
  if (fence) {
    let code = text.slice(fence[0].length);
    const end = code.search(new RegExp("(^|\\n) {0,3}" + fence[1][0] + "{" + fence[1].length + ",}\\s*$"));
    if (end >= 0) code = code.slice(0, end);
    const pre = into.appendChild(make("pre"));
    pre.tabIndex = 0;
    pre.append(make("code", "", code));
    return;
  }
  const lines = text.split("\n");
  const heading = text.match(/^#{1,6}\s+([^\n]*)/);
  if (heading) {
    inline(heading[1], into.appendChild(make("h4")));
    if (lines.length > 1) block(lines.slice(1).join("\n"), into);
  } else if (lines.length > 1 && lines[0].includes("|") && /^\s*\|?\s*:?-+:?\s*(\|\s*:?-+:?\s*)*\|?\s*$/.test(lines[1])) {
    table(lines, into);
  } else if (kItem.test(text)) {
    list(lines, into);
  } else if (/^>/.test(text)) {
    inline(lines.map((line) => line.replace(/^> ?/, "")).join("\n"), into.appendChild(make("blockquote")));
  } else {
    const begin = lines.findIndex((line, i) => i > 0 && (kItem.test(line) || /^#{1,6}\s/.test(line)));
    inline((begin < 0 ? lines : lines.slice(0, begin)).join("\n"), into.appendChild(make("p")));
    if (begin >= 0) block(lines.slice(begin).join("\n"), into);
  }
}
// Blocks end at blank lines outside of fences. Those that are whole are drawn once; only the last one is drawn again as it grows.
class Markdown {
  constructor(into) { this.into = into; this.from = 0; this.tail = null; }
  draw(text, whole) {
    this.tail?.remove();
    this.tail = null;
    for (;;) {
      while (text[this.from] === "\n") ++this.from;
      const rest = text.slice(this.from);
      const fence = rest.match(/^ {0,3}(```+|~~~+)/);
      const end = fence
        ? rest.slice(fence[0].length).search(new RegExp("\\n {0,3}" + fence[1][0] + "{" + fence[1].length + ",}[ \\t]*\\n"))
        : rest.search(/\n[ \t]*\n|\n {0,3}(```|~~~)/);
      if (end < 0) {
        if (!rest.trim()) return;
        this.tail = make("div", "tail");
        block(rest.trimEnd(), this.tail);
        this.into.append(this.tail);
        if (whole) this.tail.replaceWith(...this.tail.childNodes);
        return;
      }
      const size = fence ? fence[0].length + end + rest.slice(fence[0].length + end + 1).indexOf("\n") + 1 : end;
      block(rest.slice(0, size), this.into);
      this.from += size;
    }
  }
}

// ---- conversation ----
let turns = store.get(localStorage, "chat") ?? [];  // {role, content, reasoning?, error?, note?}
let running = null;                                 // AbortController of the answer that comes
const save = () => store.set(localStorage, "chat", turns);

function follow(work) {  // keeps the end in view unless the reader scrolled away
  const main = $("main");
  const atEnd = main.scrollHeight - main.scrollTop - main.clientHeight < 48;
  work();
  if (atEnd) main.scrollTop = main.scrollHeight;
}
function button(text, label, act) {
  const element = make("button", "", text);
  element.type = "button";
  if (label) element.setAttribute("aria-label", label);
  element.addEventListener("click", act);
  return element;
}
function drawThought(article, turn) {
  let details = article.querySelector(".thought");
  if (!turn.reasoning) return;
  if (!details) {
    details = make("details", "thought");
    details.append(make("summary", "", "Reasoning"), make("div"));
    article.querySelector(".text").before(details);
  }
  details.lastChild.textContent = turn.reasoning;
}
function drawTurn(turn, index) {
  const article = make("article", "turn " + turn.role);
  article.append(make("h3", "", turn.role === "user" ? "You" : turn.model || "Answer"), make("div", "text"));
  const text = article.querySelector(".text");
  if (turn.role === "user") text.textContent = turn.content;
  else new Markdown(text).draw(turn.content, true);
  drawThought(article, turn);
  if (turn.error) {
    const bad = make("div", "bad", turn.error);
    bad.setAttribute("role", "alert");
    article.append(bad);
  }
  const foot = article.appendChild(make("div", "foot"));
  foot.append(make("span", "note", turn.note ?? ""));
  if (turn.role === "user") foot.append(button("Edit", "Edit this message", () => edit(index)));
  if (turn.role === "assistant") {
    foot.append(button("Copy", "Copy this answer", async () => {
      try { await navigator.clipboard.writeText(turn.content); say("Copied"); } catch { say("This browser does not let the page copy"); }
    }));
    foot.append(button("Again", "Answer again", () => { if (!running) { turns.length = index; draw(); answer(); } }));
  }
  return article;
}
function draw() {
  $("turns").replaceChildren(...turns.map(drawTurn));
  $("empty").hidden = turns.length > 0;
}
function edit(index) {
  if (running) return;
  $("prompt").value = turns[index].content;
  turns.length = index;
  save();
  draw();
  fit();
  $("prompt").focus();
}

const kNumbers = ["temperature", "max_tokens", "top_p", "top_k", "min_p", "repetition_penalty", "presence_penalty", "frequency_penalty", "seed"];
function requestBody() {
  const messages = turns.filter((turn) => !turn.error || turn.content).map(({ role, content }) => ({ role, content }));
  const system = $("system").value.trim();
  if (system) messages.unshift({ role: "system", content: system });
  const body = { model: $("model").value, messages, stream: true, stream_options: { include_usage: true } };
  for (const name of kNumbers) if ($(name).value !== "" && $(name).checkValidity()) body[name] = Number($(name).value);
  const stop = $("stop").value.split("\n").filter((line) => line !== "");
  if (stop.length > 0) body.stop = stop;
  return body;
}
async function* events(response) {
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let buffer = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    buffer += value;
    for (let end = buffer.indexOf("\n\n"); end >= 0; end = buffer.indexOf("\n\n")) {
      const line = buffer.slice(0, end);
      buffer = buffer.slice(end + 2);
      if (!line.startsWith("data: ")) continue;
      if (line === "data: [DONE]") return;
      yield JSON.parse(line.slice(6));
    }
  }
}
// Whole sentences for who listens, not every token.
class Speaker {
  constructor() { this.said = 0; $("said").textContent = ""; }
  tell(text, whole) {
    const rest = text.slice(this.said);
    const match = whole ? [rest] : rest.match(/^[\s\S]*[.!?:\n](?=\s)/);
    if (!match || !match[0].trim()) return;
    this.said += match[0].length;
    $("said").append(make("p", "", match[0].trim()));
  }
}
async function answer() {
  const turn = { role: "assistant", content: "", reasoning: "", model: $("model").value };
  const body = requestBody();
  turns.push(turn);
  const article = drawTurn(turn, turns.length - 1);
  const text = article.querySelector(".text"), foot = article.querySelector(".note");
  text.classList.add("caret");
  $("empty").hidden = true;
  $("turns").append(article);
  $("main").scrollTop = $("main").scrollHeight;
  running = new AbortController();
  buttons();
  say("Answering");
  const begin = performance.now();
  const markdown = new Markdown(text), speaker = new Speaker();
  let first = 0, usage = null, frame = 0, finish = "";
  const paint = () => follow(() => { frame = 0; drawThought(article, turn); markdown.draw(turn.content, false); });
  try {
    const response = await call("/v1/chat/completions",
      { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body), signal: running.signal });
    if (!response.ok) throw new Error(await reason(response));
    for await (const event of events(response)) {
      if (event.error) throw new Error(event.error.message ?? event.error);
      usage = event.usage ?? usage;
      const choice = event.choices?.[0];
      if (!choice) continue;
      finish = choice.finish_reason ?? finish;
      turn.reasoning += choice.delta.reasoning_content ?? choice.delta.reasoning ?? "";  // as [server].reasoning_field says
      if (choice.delta.content) { turn.content += choice.delta.content; speaker.tell(turn.content, false); }
      if (!first && (turn.content || turn.reasoning)) first = performance.now();
      frame ||= requestAnimationFrame(paint);
    }
  } catch (error) {
    if (running.signal.aborted) turn.note = "stopped";
    else turn.error = error.message || String(error);
  }
  cancelAnimationFrame(frame);
  const seconds = (performance.now() - first) / 1000;
  if (usage) {
    const rate = usage.completion_tokens > 1 ? ` · ${((usage.completion_tokens - 1) / seconds).toFixed(0)} tokens/s` : "";
    turn.note = `${usage.completion_tokens} tokens · first after ${(first - begin).toFixed(0)} ms${rate}` + (finish === "length" ? " · cut at the limit" : "");
  }
  running = null;
  save();
  follow(() => article.replaceWith(drawTurn(turn, turns.length - 1)));
  speaker.tell(turn.content, true);
  say(turn.error ? "The answer failed" : turn.note === "stopped" ? "Stopped" : "The answer is complete");
  buttons();
}
function send() {
  const content = $("prompt").value.trim();
  if (running || !content) return;
  turns.push({ role: "user", content });
  $("prompt").value = "";
  fit();
  save();
  draw();
  answer();
}
function buttons() {
  $("send").textContent = running ? "Stop" : "Send";
  $("send").classList.toggle("stop", running !== null);
  $("send").disabled = !running && $("prompt").value.trim() === "";
}
function fit() {
  const prompt = $("prompt");
  prompt.style.height = "auto";
  prompt.style.height = prompt.scrollHeight + "px";
  buttons();
}
$("compose").addEventListener("submit", (event) => { event.preventDefault(); if (running) running.abort(); else send(); });
$("prompt").addEventListener("input", fit);
$("prompt").addEventListener("keydown", (event) => {
  if (event.key === "Enter" && !event.shiftKey && !event.isComposing) { event.preventDefault(); send(); }
});
document.addEventListener("keydown", (event) => { if (event.key === "Escape" && running && !$("key-dialog").open) running.abort(); });
for (const example of document.querySelectorAll("#empty button"))
  example.addEventListener("click", () => { $("prompt").value = example.textContent; fit(); $("prompt").focus(); });
$("new").addEventListener("click", () => { running?.abort(); turns = []; save(); draw(); $("prompt").focus(); });

// ---- settings ----
const kFields = ["system", "stop", ...kNumbers];
const restore = store.get(localStorage, "settings") ?? {};
for (const name of kFields) {
  $(name).value = restore[name] ?? "";
  $(name).addEventListener("input", () => store.set(localStorage, "settings", Object.fromEntries(kFields.map((field) => [field, $(field).value]))));
}
$("defaults").addEventListener("click", () => {
  for (const name of ["stop", ...kNumbers]) $(name).value = "";
  $("system").dispatchEvent(new Event("input"));
  say("The sampling settings are the defaults again");
});
$("forget").addEventListener("click", () => {
  try { localStorage.clear(); sessionStorage.clear(); } catch { /* nothing was kept */ }
  location.reload();
});
function panel(name, open) {
  for (const each of ["live", "settings"]) {
    const shown = each === name && open;
    $(each).hidden = !shown;
    $("show-" + each).setAttribute("aria-expanded", String(shown));
  }
  store.set(localStorage, "panel", open ? name : "");
  if (open && name === "live") look();
}
for (const name of ["live", "settings"]) $("show-" + name).addEventListener("click", () => panel(name, $(name).hidden));
function theme(name) {
  if (name) document.documentElement.dataset.theme = name;
  const dark = name ? name === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  $("theme").setAttribute("aria-pressed", String(dark));
}
$("theme").addEventListener("click", () => {
  const next = $("theme").getAttribute("aria-pressed") === "true" ? "light" : "dark";
  store.set(localStorage, "theme", next);
  theme(next);
});
theme(store.get(localStorage, "theme"));

// ---- live view ----
const kPoints = 60;
const history = { rate: [], first: [] };
let before = null, looking = false;
function read(text) {  // Prometheus' text format, summed over the models
  const out = {};
  for (const line of text.split("\n")) {
    const match = line.match(/^(\w+)(?:\{[^}]*\})? ([-+\deE.]+)/);
    if (match) out[match[1]] = (out[match[1]] ?? 0) + Number(match[2]);
  }
  out.at = performance.now();
  return out;
}
function spark(id, values) {
  const most = Math.max(...values.map((value) => value ?? 0), 1e-9);
  const points = values.map((value, i) => `${((i + kPoints - values.length) / (kPoints - 1) * 100).toFixed(2)} ${(28 - 26 * (value ?? 0) / most).toFixed(2)}`);
  const from = (kPoints - values.length) / (kPoints - 1) * 100;
  const svg = (name, d) => {
    const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
    path.setAttribute("class", name);
    path.setAttribute("d", d);
    return path;
  };
  $(id).replaceChildren(svg("area", `M${points.join("L")}L100 30L${from} 30Z`), svg("line", `M${points.join("L")}`));
}
const whole = (value) => Math.round(value ?? 0).toLocaleString("en");
function show(now) {
  const seconds = before ? (now.at - before.at) / 1000 : 0;
  const change = (name) => (now[name] ?? 0) - (before?.[name] ?? 0);
  const rate = seconds > 0 ? Math.max(0, change("gainz_tokens_generated_total")) / seconds : 0;
  const answers = change("gainz_time_to_first_token_seconds_count");
  const last = history.first[history.first.length - 1] ?? null;
  const first = before && answers > 0 ? change("gainz_time_to_first_token_seconds_sum") / answers * 1000 : last;
  history.rate.push(rate);
  history.first.push(first);
  for (const values of Object.values(history)) if (values.length > kPoints) values.shift();
  $("v-rate").textContent = `${whole(rate)} tokens/s`;
  $("v-first").textContent = first === null ? "–" : `${whole(first)} ms`;
  $("v-running").textContent = whole(now.gainz_requests_running);
  $("v-waiting").textContent = whole(now.gainz_requests_waiting);
  const used = now.gainz_kv_pages_used ?? 0, total = now.gainz_kv_pages_total ?? 0;
  $("v-kv").textContent = `${whole(used)} of ${whole(total)}`;
  $("b-kv").style.width = total > 0 ? `${100 * used / total}%` : "0";
  $("v-cached").textContent = whole(now.gainz_prefix_cache_hit_tokens_total);
  $("v-total").textContent = whole(now.gainz_tokens_generated_total);
  spark("s-rate", history.rate);
  spark("s-first", history.first);
  before = now;
}
async function look() {
  if (looking) return;
  looking = true;
  while (!$("live").hidden && !document.hidden) {
    try {
      const response = await call("/metrics");
      if (!response.ok) break;
      show(read(await response.text()));
    } catch { say("The server does not answer"); }
    await new Promise((resolve) => setTimeout(resolve, 1000));
  }
  looking = false;
}
document.addEventListener("visibilitychange", look);

// ---- start ----
async function models() {
  try {
    const response = await call("/v1/models");
    if (!response.ok) throw new Error(await reason(response));
    const list = (await response.json()).data;
    $("model").replaceChildren(...list.map((model) => { const option = make("option", "", model.id); option.value = model.id; return option; }));
    const wanted = store.get(localStorage, "model");
    if (list.some((model) => model.id === wanted)) $("model").value = wanted;
    $("model").title = $("model").value;
  } catch (error) {
    $("about").textContent = error.message || "The server does not answer.";
    $("about").className = "bad";
  }
}
$("model").addEventListener("change", () => { store.set(localStorage, "model", $("model").value); $("model").title = $("model").value; });
draw();
fit();
models();
if (store.get(localStorage, "panel") && matchMedia("(min-width: 60.01rem)").matches) panel(store.get(localStorage, "panel"), true);
else if (store.get(localStorage, "panel") === null && matchMedia("(min-width: 60.01rem)").matches) panel("live", true);
$("prompt").focus();
