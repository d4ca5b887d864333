// The console: calls the admin listener's API, and renders the responses. They are only inserted as text,
// never parsed as markup.

const PAUSE_MILLISECONDS = 5000;
const KEY_ITEM = "assay-api-key";

const byId = (id) => document.getElementById(id);

/** Creates an element with properties, and with children that are elements or text. Null children are skipped. */
function element(name, properties = {}, ...children) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children.flat().filter((child) => child !== null));
  return made;
}

// MARK: Requests

class Refusal extends Error {
  constructor(status, problem) {
    super(problem?.detail ?? `The response status was ${status}.`);
    this.status = status;
    this.code = problem?.code ?? null;
  }
}

/** Returns the JSON response; throws a `Refusal` for a problem. Paths are relative, because a proxy may add a prefix. */
async function ask(path, method = "GET", body = undefined) {
  const headers = { Accept: "application/json" };
  const key = sessionStorage.getItem(KEY_ITEM);
  if (key !== null) headers.Authorization = `Bearer ${key}`;
  if (body !== undefined) headers["Content-Type"] = "application/json";
  const response = await fetch(path, {
    method, headers, body: body === undefined ? undefined : JSON.stringify(body), cache: "no-store", redirect: "error",
  });
  let answer = null;
  try {
    answer = await response.json();
  } catch {
    // A proxy between this page and the listener may respond with anything.
  }
  // Ignore the response if the key has changed since: it was for the previous key's owner.
  if (sessionStorage.getItem(KEY_ITEM) !== key) throw new Refusal(401, { detail: "The API key has changed in the meantime." });
  if (response.status === 401) askForKey(key !== null);
  if (!response.ok || answer === null) throw new Refusal(response.status, answer);
  return answer;
}

// MARK: The API key

function askForKey(isWrong) {
  sessionStorage.removeItem(KEY_ITEM);
  const wasHidden = byId("key").hidden;
  byId("key").hidden = false;
  byId("forget-key").hidden = true;
  showKeyError(isWrong ? "The API key was refused: it is not one of this listener’s." : null);
  if (wasHidden) byId("key-field").focus();
}

/** Shows beside the field what is wrong with the key. The element is an alert, so screen readers announce it. */
function showKeyError(text) {
  byId("key-error").textContent = text ?? "";
  byId("key-error").hidden = text === null;
  byId("key-field").setAttribute("aria-invalid", String(text !== null));
}

byId("key-form").addEventListener("submit", (event) => {
  event.preventDefault();
  sessionStorage.setItem(KEY_ITEM, byId("key-field").value.trim());
  byId("key-field").value = "";
  showKeyError(null);
  byId("key").hidden = true;
  byId("forget-key").hidden = false;
  byId("main").focus();
  update();
});

byId("forget-key").addEventListener("click", () => {
  clear();
  askForKey(false);
});

byId("forget-key").hidden = sessionStorage.getItem(KEY_ITEM) === null;

// MARK: Times

const moment = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });
const relative = new Intl.RelativeTimeFormat("en", { numeric: "auto" });

function sinceOrUntil(unixSeconds) {
  const seconds = unixSeconds - Date.now() / 1000;
  for (const [unit, length] of [["day", 86400], ["hour", 3600], ["minute", 60]]) {
    if (Math.abs(seconds) >= length) return relative.format(Math.trunc(seconds / length), unit);
  }
  return relative.format(Math.trunc(seconds), "second");
}

/** A time element: relative to now, with the exact time as its title; or the exact time. */
function time(unixSeconds, isRelative = true) {
  const date = new Date(unixSeconds * 1000);
  const text = moment.format(date);
  const made = element("time", { dateTime: date.toISOString() }, isRelative ? sinceOrUntil(unixSeconds) : text);
  if (isRelative) {
    made.title = text;
    made.dataset.unixSeconds = unixSeconds;
  }
  return made;
}

/** A duration in its two largest units. */
function duration(seconds) {
  const units = [["d", 86400], ["h", 3600], ["min", 60], ["s", 1]];
  let rest = Math.max(0, Math.floor(seconds));
  const parts = units.map(([unit, length]) => {
    const count = Math.floor(rest / length);
    rest -= count * length;
    return [count, unit];
  });
  const first = parts.findIndex(([count]) => count > 0);
  return first < 0 ? "0 s" : parts.slice(first, first + 2).filter(([count]) => count > 0).map((part) => part.join(" ")).join(" ");
}

/** The browser's time zone, which the page uses, with its current offset from UTC. */
function timeZone() {
  const name = Intl.DateTimeFormat().resolvedOptions().timeZone ?? "local time";
  const parts = new Intl.DateTimeFormat("en", { timeZoneName: "longOffset" }).formatToParts(new Date());
  const offset = parts.find((part) => part.type === "timeZoneName")?.value.replace("GMT", "UTC");
  return offset === undefined || name === "UTC" ? name : `${name} (${offset})`;
}

function tickTimes() {
  for (const each of document.querySelectorAll("time[data-started-at]")) {
    each.textContent = duration(Date.now() / 1000 - Number(each.dataset.startedAt));
  }
  for (const each of document.querySelectorAll("time[data-unix-seconds]")) {
    each.textContent = sinceOrUntil(Number(each.dataset.unixSeconds));
  }
}

// MARK: The process

function drawInstance({ version, started_at: startedAt }) {
  const since = new Date(startedAt * 1000);
  const up = element("time", { dateTime: since.toISOString(), title: `Since ${moment.format(since)}` });
  up.dataset.startedAt = startedAt;
  return [`Assay ${version} · up for `, up, ` · times are in ${timeZone()}`];
}

// MARK: Rendering

/** Renders again only if the response has changed, so that a selection is kept. The focus is restored. */
const drawn = new Map();
function redraw(place, answer, draw) {
  const text = JSON.stringify(answer);
  if (drawn.get(place) === text) return;
  drawn.set(place, text);
  const focused = place.contains(document.activeElement) ? document.activeElement.dataset.focus : undefined;
  place.replaceChildren(...draw(answer));
  if (focused !== undefined) place.querySelector(`[data-focus="${CSS.escape(focused)}"]`)?.focus();
}

function clear() {
  for (const place of drawn.keys()) place.replaceChildren();
  drawn.clear();
  events = [];
  providers = [];
  byId("explain-form").reset();
  byId("explanation").replaceChildren();
  outcomes.clear();
}

/** A decorative symbol, hidden from screen readers: the text beside it has the same meaning. */
function symbol(text, kind) {
  const made = element("span", { className: `symbol ${kind}` }, text);
  made.setAttribute("aria-hidden", "true");
  return made;
}

const kid = (text) => element("code", { className: "kid" }, text);

function definitions(...pairs) {
  const known = pairs.filter(([, value]) => value !== null);
  return element("dl", {}, known.flatMap(([term, value]) => [element("dt", {}, term), element("dd", {}, value)]));
}

// MARK: Providers

const STATES = { ready: ["●", "good"], stale: ["▲", "warn"], unavailable: ["✕", "bad"] };

function badge(state) {
  const [sign, kind] = STATES[state] ?? ["?", "none"];
  return element("span", { className: `badge ${kind}` }, symbol(sign, kind), ` ${state}`);
}

/** The outcomes of fetches that this page requested, by provider; `null` while one is in progress. */
const outcomes = new Map();

/** The outcome to show on a provider's card. It is removed after the next fetch, whose result the card shows anyway. */
function currentOutcome(provider) {
  const outcome = outcomes.get(provider.id);
  if (!outcome) return outcome;
  const state = `${provider.fetched_at} ${provider.last_error?.at}`;
  outcome.state ??= state;
  if (outcome.state === state) return outcome;
  outcomes.delete(provider.id);
  return undefined;
}

const reason = (error) => `${error.phase}: ${error.message}`;

function drawProvider({ provider, outcome }) {
  const isFetching = outcome === null;
  const refresh = element("button", { type: "button", className: "quiet" }, isFetching ? "Fetching keys …" : "Fetch keys now");
  refresh.dataset.focus = provider.id;
  refresh.setAttribute("aria-label", `Fetch the keys of ${provider.id} now`);
  // Not `disabled`, which would take away the keyboard focus.
  if (isFetching) refresh.setAttribute("aria-disabled", "true");
  refresh.addEventListener("click", () => fetchKeys(provider.id));
  const error = provider.last_error;
  const [sign, kind] = outcome?.isGood ? ["✓", "good"] : ["✕", "bad"];
  return element("article", { className: "card" },
    element("div", { className: "card-head" }, element("h3", {}, provider.id), badge(provider.state), refresh),
    element("p", { className: "issuer" }, provider.issuer, provider.optional ? " (optional)" : null),
    outcome ? element("p", { className: `outcome ${kind}` }, symbol(sign, kind), ` ${outcome.text}`) : null,
    definitions(
      [provider.audiences.length === 1 ? "Audience" : "Audiences", drawAudiences(provider.audiences)],
      ["Keys from", provider.source ?? "no source yet"],
      ["Fetched", provider.fetched_at === null ? "never" : time(provider.fetched_at)],
      ["Next fetch", provider.next_fetch_at === null ? "in progress" : time(provider.next_fetch_at)],
      ["Last error", error && element("span", { className: "bad" }, `${reason(error)}, `, time(error.at))],
    ),
    provider.keys.length === 0 ? null : drawKeys(provider.keys),
  );
}

/** An entry with many issuers: how many are in which state, and those that fail. */
function drawIssuers({ provider }) {
  const known = Object.values(provider.states).reduce((sum, count) => sum + count, 0);
  const states = Object.entries(provider.states).filter(([, count]) => count > 0)
    .flatMap(([state, count], index) => [index === 0 ? "" : ", ", `${count} ${state}`]);
  const failing = provider.failing.map((each) => element("li", {}, badge(each.state),
    element("span", { className: "mono" }, ` ${each.issuer}`), ` ${reason(each.last_error)}, `, time(each.last_error.at)));
  return element("article", { className: "card" },
    element("div", { className: "card-head" }, element("h3", {}, provider.id)),
    element("p", { className: "issuer" }, provider.issuers === "any" ? "any issuer that a request names" : `${provider.listed} listed issuers`),
    definitions(
      provider.audiences.length === 0 ? ["Audiences", "those of each issuer"] : ["Audiences", drawAudiences(provider.audiences)],
      ["Issuers in use", known === 0 ? "none yet" : states],
      ["Failing", failing.length === 0 ? null : element("ul", { className: "failing" }, failing)],
    ),
  );
}

function drawAudiences(audiences) {
  if (audiences.length === 0) return "none: azp is checked instead";
  return audiences.flatMap((each, index) => [index === 0 ? "" : ", ", element("span", { className: "mono" }, each)]);
}

function drawKeys(keys) {
  const head = ["kid", "type", "algorithm", "state"].map((text) => element("th", { scope: "col" }, text));
  const rows = keys.map((key) => {
    const state = !key.usable ? ["✕ not usable", "bad"] : key.omitted ? ["▲ omitted by the last response", "warn"] : ["● in use", "good"];
    return element("tr", {},
      element("td", {}, key.kid === null ? element("em", {}, "none") : kid(key.kid)),
      element("td", {}, [key.kty, key.crv].filter((part) => part !== null).join(" ")),
      element("td", {}, key.alg ?? "any of its type"),
      element("td", { className: state[1] }, state[0]));
  });
  return element("div", { className: "scroll" }, element("table", { className: "keys" },
    element("caption", {}, keys.length === 1 ? "1 key" : `${keys.length} keys`),
    element("thead", {}, element("tr", {}, head)), element("tbody", {}, rows)));
}

async function fetchKeys(id) {
  if (outcomes.get(id) === null) return;
  outcomes.set(id, null);
  byId("news").textContent = `Fetching the keys of ${id} …`;
  showProviders();
  const outcome = await fetchOutcome(id);
  // The user may have removed the API key in the meantime, which clears the page.
  if (outcomes.has(id)) outcomes.set(id, outcome);
  byId("news").textContent = outcome.text;
  await update();
}

/** Fetches a provider's keys. If none are usable, the response is a problem, and the reason is the provider's last error. */
async function fetchOutcome(id) {
  try {
    const { last_error: error } = await ask(`v1/providers/${encodeURIComponent(id)}/refresh`, "POST");
    return error === null ? { isGood: true, text: `The keys of ${id} were fetched.` }
      : { isGood: false, text: `The keys of ${id} could not be fetched: ${reason(error)}.` };
  } catch (error) {
    const last = error.code === "keys_unavailable" ? await lastError(id) : null;
    const why = last === null ? `. ${describe(error)}` : `: ${reason(last)}.`;
    return { isGood: false, text: `The keys of ${id} could not be fetched${why}` };
  }
}

async function lastError(id) {
  try {
    const { providers } = await ask("v1/providers");
    return providers.find((provider) => provider.id === id)?.last_error ?? null;
  } catch {
    return null;
  }
}

/** Updates the options of a select element to match the providers. The first option means no provider. */
function offerProviders(select, providers) {
  const chosen = select.value;
  const ids = providers.map((provider) => provider.id);
  if ([...select.options].slice(1).map((option) => option.value).join("\n") === ids.join("\n")) return;
  select.replaceChildren(select.options[0], ...ids.map((id) => element("option", { value: id }, id)));
  select.value = ids.includes(chosen) ? chosen : "";
}

// MARK: Verdicts

/** Groups counts by provider; the group without a provider is last. In each, leading counts come first, then the highest. */
function byProvider(counts, isLeading) {
  const providers = [...new Set(counts.map((each) => each.provider))]
    .sort((one, other) => (one === null) - (other === null) || one.localeCompare(other));
  return providers.map((provider) => [provider, counts.filter((each) => each.provider === provider)
    .sort((one, other) => isLeading(other) - isLeading(one) || other.count - one.count)]);
}

function drawVerdicts(verdicts) {
  if (verdicts.length === 0) return [element("p", { className: "empty" }, "No token has been verified yet.")];
  return byProvider(verdicts, ({ code }) => code === "ok").map(([provider, mine]) => {
    const total = mine.reduce((sum, verdict) => sum + verdict.count, 0);
    return element("article", { className: "card" },
      element("h3", {}, provider ?? "No provider found", element("span", { className: "aside" }, ` ${tokens(total)}`)),
      element("ul", { className: "bars" }, mine.map((verdict) => drawBar(verdict, total))));
  });
}

const tokens = (count) => (count === 1 ? "1 token" : `${count.toLocaleString("en")} tokens`);

function drawBar({ code, count }, total, sign = code === "ok" ? "✓" : "✗", kind = code === "ok" ? "good" : "bad") {
  const filled = element("span");
  // Set through the DOM: the Content-Security-Policy forbids style attributes.
  filled.style.setProperty("--share", `${(100 * count) / total}%`);
  const bar = element("div", { className: `bar ${kind}` }, filled);
  bar.setAttribute("aria-hidden", "true");
  return element("li", {},
    element("span", { className: "code" }, symbol(`${sign} `, kind), code), bar,
    element("span", { className: "count" }, count.toLocaleString("en")));
}

// MARK: Sign-ins

const OUTCOMES = { begun: ["○", "none"], ok: ["✓", "good"] };

function drawSignIns(signIns) {
  if (signIns.length === 0) return [element("p", { className: "empty" }, "No sign-in has begun yet.")];
  return byProvider(signIns, ({ outcome }) => outcome in OUTCOMES).map(([provider, mine]) => {
    const most = Math.max(...mine.map((each) => each.count));
    return element("article", { className: "card" },
      element("h3", {}, provider ?? "No provider found"),
      element("ul", { className: "bars" }, mine.map(({ outcome, count }) => {
        const [sign, kind] = OUTCOMES[outcome] ?? ["✗", "bad"];
        return drawBar({ code: outcome === "ok" ? "finished" : outcome, count }, most, sign, kind);
      })));
  });
}

const STORE_STATES = {
  ok: ["●", "good", "is available"], full: ["✕", "bad", "is full"], unreachable: ["✕", "bad", "can’t be reached"],
  evicting: ["✕", "bad", "could drop records, so it is not used"], read_only: ["✕", "bad", "is a read-only replica"],
};

function drawStore({ state, entries }) {
  const [sign, kind, words] = STORE_STATES[state] ?? ["?", "none", state];
  const count = entries === null ? "" : `, and holds ${entries.toLocaleString("en")} in this process`;
  return ["The sign-in store ", element("span", { className: kind }, symbol(sign, kind), ` ${words}`), `${count}.`];
}

/** The section is hidden if nothing is single-use. */
function showSignIns(signIns, store) {
  byId("sign-ins").hidden = byId("sign-ins-link").hidden = store === undefined;
  if (store === undefined) return;
  redraw(byId("store"), store, drawStore);
  redraw(byId("sign-in-list"), signIns, drawSignIns);
}

// MARK: Access tokens and gateways

/** The section is hidden if access tokens are not verified. */
function showAccessTokens(accessTokens) {
  byId("access-tokens").hidden = byId("access-tokens-link").hidden = accessTokens === undefined;
  if (accessTokens !== undefined) redraw(byId("access-token-list"), accessTokens, drawVerdicts);
}

function drawDecisions(decisions) {
  if (decisions.length === 0) return [element("p", { className: "empty" }, "No gateway has sent a request yet.")];
  const named = decisions.map(({ policy, code, count }) => ({ provider: policy, code, count }));
  return byProvider(named, ({ code }) => code === "ok").map(([policy, mine]) => {
    const total = mine.reduce((sum, each) => sum + each.count, 0);
    const requests = total === 1 ? "1 request" : `${total.toLocaleString("en")} requests`;
    return element("article", { className: "card" },
      element("h3", {}, policy, element("span", { className: "aside" }, ` ${requests}`)),
      element("ul", { className: "bars" }, mine.map(({ code, count }) => (
        code === "ok" ? drawBar({ code: "allowed", count }, total, "✓", "good") : drawBar({ code, count }, total)))));
  });
}

/** The section is hidden if there are no policies. */
function showDecisions(decisions) {
  byId("gateways").hidden = byId("gateways-link").hidden = decisions === undefined;
  if (decisions !== undefined) redraw(byId("gateway-list"), decisions, drawDecisions);
}

// MARK: Notifications

function drawNotifications(notifications) {
  if (notifications.length === 0) return [element("p", { className: "empty" }, "No notification has been verified yet.")];
  return byProvider(notifications, ({ code }) => code === "ok").map(([provider, mine]) => {
    const total = mine.reduce((sum, each) => sum + each.count, 0);
    return element("article", { className: "card" },
      element("h3", {}, provider ?? "No provider found"),
      element("ul", { className: "bars" }, mine.map(({ kind, code, count }) => (
        code === "ok" ? drawBar({ code: kind, count }, total, "✓", "good") : drawBar({ code, count }, total)))));
  });
}

/** The section is hidden if notifications are not accepted. */
function showNotifications(notifications) {
  byId("notifications").hidden = byId("notifications-link").hidden = notifications === undefined;
  if (notifications !== undefined) redraw(byId("notification-list"), notifications, drawNotifications);
}

// MARK: Events

function byName(keys) {
  const unnamed = keys.count - keys.kids.length;
  return [...keys.kids.flatMap((each) => [" ", kid(each)]), unnamed > 0 ? ` and ${unnamed} more` : null];
}

const EVENTS = {
  fetched: () => ["●", "good", ["Keys fetched"]],
  fetch_failed: (event) => ["✕", "bad", [`Fetch failed (${event.phase}): ${event.message}`]],
  keys_changed: ({ added, removed }) => ["◆", "change", [
    "Keys changed",
    ...(added.count > 0 ? [`; added ${added.count}:`, ...byName(added)] : []),
    ...(removed.count > 0 ? [`; removed ${removed.count}:`, ...byName(removed)] : []),
    ...(added.count + removed.count === 0 ? [", with the same names"] : []),
  ]],
  state_changed: ({ state }) => [...(STATES[state] ?? ["?", "none"]), [
    { ready: "Keys are ready", stale: "Keys are stale, but still used", unavailable: "No usable keys" }[state] ?? state,
  ]],
  archive_refused: (event) => ["▲", "warn", [`Cached keys rejected: ${event.message}`]],
  archive_failed: () => ["▲", "warn", ["Keys can’t be cached on disk"]],
  fallback_failed: (event) => ["▲", "warn", [`Fallback keys can’t be read: ${event.message}`]],
};

function drawEvent(event) {
  const [sign, kind, what] = (EVENTS[event.event] ?? (() => ["?", "none", [event.event]]))(event);
  const repeated = event.count === 1 ? null
    : element("span", { className: "aside" }, ` ${event.count} times since `, time(event.since, false));
  return element("li", {}, symbol(sign, kind), time(event.at, false), element("span", { className: "of" }, event.provider),
    event.issuer ? element("span", { className: "mono" }, ` ${event.issuer} `) : null,
    element("span", { className: "what" }, what, repeated));
}

function drawEvents(events) {
  return events.length === 0 ? [element("li", {}, symbol("○", "none"), "Nothing has happened yet.")] : events.map(drawEvent);
}

// MARK: Explanations

const CHECK_STATES = {
  passed: ["✓", "good", "passed"], failed: ["✗", "bad", "failed"],
  not_reached: ["○", "none", "not reached"], not_asked: ["–", "none", "not enabled"],
};

function drawExplanation(answer) {
  const [sign, kind] = answer.valid ? ["✓", "good"] : ["✗", "bad"];
  const fix = answer.likely_cause?.fix;
  return element("article", {},
    element("h3", { className: `verdict ${kind}` }, symbol(sign, kind), element("span", {}, answer.summary)),
    fix ? drawFix(fix) : null,
    definitions(["Provider", answer.provider], ["Code", answer.code && element("code", {}, answer.code)]),
    drawKeysOf(answer),
    element("ol", { className: "checks" }, foldUnreached(answer.checks)),
    answer.token ? drawToken(answer.token) : null);
}

/** The token's contents, collapsed, because they are rarely needed. The listener has already masked personal values. */
function drawToken({ header, claims }) {
  const list = (members) => definitions(...members.map(({ name, value, masked }) =>
    [name, element("span", { className: masked ? "masked" : "mono" }, value)]));
  return element("details", { className: "contents" },
    element("summary", {}, "Contents of the token"),
    element("h4", {}, "Header"), list(header), element("h4", {}, "Claims"), list(claims));
}

/** The state of the keys, if it may be the cause. */
function drawKeysOf({ provider, keys }) {
  if (keys === null || (keys.state === "ready" && keys.last_error === null)) return null;
  const error = keys.last_error;
  return definitions(["Keys", [badge(keys.state), ` of ${provider}`]],
    ["Last fetch", error && element("span", { className: "bad" }, `${reason(error)}, `, time(error.at))]);
}

/** Renders the checks. Consecutive ones that were not reached are collapsed into one line. */
function foldUnreached(checks) {
  const rows = [];
  for (let index = 0; index < checks.length; index += 1) {
    let end = index;
    while (end < checks.length && checks[end].state === "not_reached") end += 1;
    if (end === index) {
      rows.push(drawCheck(checks[index]));
    } else {
      rows.push(drawFold(checks.slice(index, end)));
      index = end - 1;
    }
  }
  return rows;
}

function drawFold(checks) {
  const words = checks.length === 1 ? "1 check was not reached" : `${checks.length} checks were not reached`;
  return element("li", { className: "folded" }, element("details", {},
    element("summary", {}, symbol("○", "none"), words),
    element("ol", { className: "checks" }, checks.map(drawCheck))));
}

function drawCheck(check) {
  const [sign, kind, words] = CHECK_STATES[check.state] ?? ["?", "none", check.state];
  const name = element("h4", {}, check.name.replaceAll("_", " "), ": ", element("span", { className: kind }, words));
  return element("li", {}, symbol(sign, kind), name, element("div", {},
    check.explanation ? element("p", {}, check.explanation) : null,
    definitions(["Code", check.code && element("code", {}, check.code)],
      ["Expected", check.expected && element("span", { className: "mono" }, check.expected)],
      ["Found", check.found && element("span", { className: "mono" }, check.found)]),
    check.fix ? drawFix(check.fix) : null));
}

const drawFix = (fix) => element("p", { className: "fix" }, element("strong", {}, "What to do: "), fix);

/** The request body for the form's values. */
function explainRequest() {
  const token = byId("token-field").value.trim();
  const [provider, nonce] = [byId("provider-field").value, byId("nonce-field").value];
  const scopes = byId("scopes-field").value.split(" ").filter((scope) => scope !== "");
  const of = provider === "" ? {} : { provider };
  if (isOpen(provider) && byId("kind-field").value !== "access") {
    for (const name of ["connection", "issuer", "audience"]) of[name] = byId(`${name}-field`).value.trim();
  }
  switch (byId("kind-field").value) {
    case "policy": return { token, policy: byId("policy-field").value.trim() };
    case "notification": return { as: "notification", token, ...of };
    case "access": return { token, ...of, ...(scopes.length === 0 ? {} : { scopes }) };
    default: return { id_token: token, ...of, ...(nonce === "" ? {} : { nonce }) };
  }
}

/** Shows the fields that belong to the kind of token. */
function showFieldsOfKind() {
  const kind = byId("kind-field").value;
  for (const field of document.querySelectorAll("[data-kinds]")) {
    field.hidden = !field.dataset.kinds.split(" ").includes(kind);
  }
  byId("policy-field").required = kind === "policy";
  const needsConnection = kind !== "policy" && kind !== "access" && isOpen(byId("provider-field").value);
  for (const name of ["connection", "issuer", "audience"]) {
    byId(`${name}-field`).closest(".field").hidden = !needsConnection;
    byId(`${name}-field`).required = needsConnection;
  }
}

/** Whether a provider has `issuers: any`, so that each request names its connection. */
const isOpen = (id) => providers.some((provider) => provider.id === id && provider.issuers === "any");

byId("provider-field").addEventListener("change", showFieldsOfKind);

byId("kind-field").addEventListener("change", showFieldsOfKind);

byId("explain-form").addEventListener("submit", async (event) => {
  event.preventDefault();
  const request = explainRequest();
  const place = byId("explanation");
  place.replaceChildren(element("p", { className: "empty" }, "Explaining …"));
  try {
    const answer = await ask("v1/explain", "POST", request);
    place.replaceChildren(drawExplanation(answer));
    byId("news").textContent = answer.summary;
  } catch (error) {
    place.replaceChildren(element("p", { className: "trouble" }, describe(error)));
    byId("news").textContent = describe(error);
  }
});

byId("explain-form").addEventListener("reset", () => {
  byId("explanation").replaceChildren();
  // The event fires before the fields are reset.
  setTimeout(showFieldsOfKind);
});

// MARK: Polling

let events = [];
let providers = [];

function showProviders() {
  const cards = providers.map((provider) => ({ provider, outcome: currentOutcome(provider) }));
  redraw(byId("provider-list"), cards, (all) => all.map((each) => each.provider.issuers ? drawIssuers(each) : drawProvider(each)));
}

function showEvents() {
  const of = byId("event-filter").value;
  redraw(byId("event-list"), events.filter((event) => of === "" || event.provider === of), drawEvents);
}

byId("event-filter").addEventListener("change", showEvents);

async function update() {
  try {
    const [told, counts, listed] = await Promise.all([ask("v1/providers"), ask("v1/verdicts"), ask("v1/events")]);
    events = listed.events;
    providers = told.providers;
    for (const select of ["provider-field", "event-filter"]) offerProviders(byId(select), providers);
    redraw(byId("instance"), told.service, drawInstance);
    showProviders();
    redraw(byId("verdict-list"), counts.verdicts, drawVerdicts);
    showSignIns(counts.sign_ins, counts.store);
    showAccessTokens(counts.access_tokens);
    showDecisions(counts.forward_auth);
    showNotifications(counts.notifications);
    showEvents();
    tickTimes();
    byId("updated").textContent = `As of ${new Date().toLocaleTimeString()}`;
    tell(null);
  } catch (error) {
    byId("updated").textContent = "Not up to date";
    // The API key's form already says that a key is needed.
    tell(error.status === 401 ? null : describe(error));
  }
}

const describe = (error) => (error instanceof Refusal ? error.message : "The listener can’t be reached.");

/** Shows why the page is not up to date. Unchanged text is not set again, so that it is announced once. */
function tell(trouble) {
  const place = byId("trouble");
  if (place.textContent !== (trouble ?? "")) place.textContent = trouble ?? "";
  place.hidden = trouble === null;
}

async function keepUp() {
  // Don't poll while the page is hidden, or while the form asks for an API key.
  if (!document.hidden && byId("key").hidden) await update();
  setTimeout(keepUp, PAUSE_MILLISECONDS);
}

document.addEventListener("visibilitychange", () => {
  if (!document.hidden && byId("key").hidden) update();
});

byId("updated").textContent = "Loading …";
keepUp();
