// The list of cases, and the details of an opened case.
const page = JSON.parse(document.getElementById("data").textContent);
const { report } = page;
const cases = page.cases.map(([id, tags, verdict, subject, reason, values, differences, attempts, retries, elapsed, known, there]) =>
  ({ id, tags, verdict, subject, reason, values: suite.read(values), differences, attempts, retries, elapsed, known, board: there[0] ?? "", boardVerdicts: there[1], fault: there[2] ?? "" }));
const TROUBLE = ["fail", "timeout", "error", "flaky"];
const rows = [];

// Figures of all cases if there are too many: `cases` then has none that passed.
const { whole } = page;

function gistOf(one) {
  const [first, ...more] = one.differences;
  if (first) return `${suite.difference(first)}${more.length ? ` … and ${more.length} more` : ""}`;
  return one.reason ?? one.subject ?? suite.none;
}

function haystack(one) {
  const differing = one.differences.map(suite.difference).join("\n");
  return [one.id, one.tags.join(" "), one.subject, one.verdict, one.reason, one.board, one.boardVerdicts, one.fault, differing].join("\n").toLowerCase();
}

function makeRow(one) {
  const row = element("details", { "data-verdict": one.verdict },
    element("summary", {},
      element("span", { class: `word ${one.verdict}` }, one.known ? `${one.verdict}, known` : one.verdict),
      element("span", { class: "id" }, one.id),
      element("span", { class: "gist" }, gistOf(one))));
  row.addEventListener("toggle", () => fill(row, one));
  rows.push({ row, one, text: haystack(one) });
  return row;
}

function fill(row, one) {
  if (!row.open || row.children.length > 1) return;
  const body = element("div", { class: "body" });
  const text = element("div", { class: "text" });
  row.append(body);
  const figure = suite.figure(one);
  if (figure) body.append(figure);
  body.append(text);
  if (one.reason) text.append(element("p", { class: "why" }, one.reason));
  text.append(list([
    [suite.subject, one.subject ?? `none: ${suite.none}`],
    ["tags", one.tags.join(", ")],
    ["board", one.board],
    ["ended", one.boardVerdicts],
    ["at fault", one.fault],
    ["put to the board", one.attempts > 1 ? `${one.attempts} times` : undefined],
    ["asked again", one.retries || undefined],
    ["took", one.elapsed ? `${(one.elapsed / 1000).toFixed(1)} ms` : undefined],
  ]));
  if (one.differences.length) text.append(element("h3", {}, "Differences"), differenceList(one));
  const commands = page.report.follow_ups.find(found => found.case === one.id)?.commands ?? [];
  if (commands.length) text.append(element("h3", {}, "To look into it"), element("pre", {}, commands.join("\n")));
  const table = suite.table(one);
  if (table) text.append(table);
}

function differenceList(one) {
  const item = found => element("li", {}, suite.difference(found), ...suite.details(found));
  return element("ul", { class: "differences" }, ...one.differences.map(item));
}
