// The figures above the cases: verdicts, board and image, line statistics, T-states.
const VERDICTS = ["pass", "fail", "timeout", "error", "flaky", "skipped", "not-run"];
const number = new Intl.NumberFormat("en");
const plural = (count, noun) => `${number.format(count)} ${noun}${count === 1 ? "" : "s"}`;

function card(title, ...content) {
  return element("section", { class: "card" }, element("h2", {}, title), ...content);
}

// Text that breaks between words only: a date or an option stays whole while it fits.
const words = text => text.split(" ").flatMap(word => [element("span", { class: "unbroken" }, word), " "]);

// Names and values; those without a value are left out.
function list(pairs) {
  const made = element("dl");
  for (const [name, value] of pairs) {
    if (value !== undefined && value !== "") made.append(element("dt", {}, name), element("dd", {}, ...words(String(value))));
  }
  return made;
}

function drawHead({ counts, board, profile, started, elapsed_ms }, cases) {
  const wrong = cases.reduce((sum, one) => sum + suite.wrong(one), 0);
  const where = board ? board.name : profile;
  const moment = started.replace("T", " ").replace("Z", " UTC");
  const told = `${plural(counts.values, suite.value)} compared, ${number.format(wrong)} wrong, on ${where} in ${(elapsed_ms / 1000).toFixed(1)} s, ${moment}`;
  document.getElementById("facts").append(...words(told));
  const share = document.getElementById("share");
  for (const verdict of VERDICTS.filter(verdict => counts[verdict])) {
    share.append(element("span", { class: verdict, style: `flex: ${counts[verdict]}`, title: `${verdict}: ${counts[verdict]}` }));
  }
}

// The table of the boards of a fleet; the first row has the headings.
function boardsCard([head, ...rows]) {
  const row = (cells, name) => element("tr", {}, ...cells.map((cell, place) => element(place ? name : "th", { class: /^\d+$/.test(cell) ? "number" : "" }, cell)));
  return card("Boards", element("table", { id: "boards" }, element("thead", {}, row(head, "th")), element("tbody", {}, ...rows.map(cells => row(cells, "td")))));
}

function drawFigures({ facts, report, boards }, cases) {
  const figures = document.getElementById("figures");
  figures.append(verdictCard(report, cases), card("Board and image", list(facts)), lineCard(report));
  if (boards.length) figures.append(wide(boardsCard(boards)));
  const why = report.summary?.last_restart;
  if (why) figures.append(wide(card("Why the board was last restarted", element("p", { class: "why" }, why))));
  const histogram = histogramCard(cases);
  if (histogram) figures.append(wide(histogram));
}

function wide(made) {
  made.classList.add("wide");
  return made;
}

// The verdicts on all cases, and on those with each tag.
function verdictCard({ counts, rounds }, cases) {
  const shown = VERDICTS.filter(verdict => counts[verdict] || verdict === "pass" || verdict === "fail");
  const tags = new Map(Object.entries(whole?.tags ?? {}));
  for (const one of whole ? [] : cases) {
    for (const tag of one.tags) {
      const row = tags.get(tag) ?? { cases: 0 };
      row.cases++;
      row[one.verdict] = (row[one.verdict] ?? 0) + 1;
      tags.set(tag, row);
    }
  }
  const cell = (row, verdict) => element("td", { class: `number ${row[verdict] ? verdict : "zero"}`, "data-count": verdict }, number.format(row[verdict] ?? 0));
  const line = ([tag, row]) => element("tr", {}, element("th", { scope: "row" }, tag), ...["cases", ...shown].map(verdict => cell(row, verdict)));
  const head = ["", "cases", ...shown].map(name => element("th", { scope: "col", class: "number" }, name));
  const rows = [["all", counts], ...rounds ? [["all iterations", rounds]] : [], ...[...tags].sort()].map(line);
  rows[0].classList.add("all");
  return card("Verdicts", element("table", { id: "counts" }, element("thead", {}, element("tr", {}, ...head)), element("tbody", {}, ...rows)));
}

function lineCard({ link, summary }) {
  if (!link) return card("Line", element("p", {}, "No board was ready, so there are no statistics of the line."));
  const causes = { timeout: "timeout", corrupted_at_board: "corrupted at the board", overrun: "overrun", missing: "missing reply" };
  const shown = Object.entries(causes).filter(([cause]) => link.retries[cause]);
  const retries = Object.values(link.retries).reduce((sum, count) => sum + count, 0);
  const [sent, received] = link.bytes;
  return card("Line", list([
    ["requests", number.format(link.requests)],
    ["bytes", `${number.format(sent)} sent, ${number.format(received)} received`],
    ["retries", number.format(retries) + (shown.length ? `: ${shown.map(([cause, word]) => `${link.retries[cause]} ${word}`).join(", ")}` : "")],
    ["corrupted at the host", plural(link.corrupted_at_host, "frame")],
    ["unexpected frames", number.format(link.unmatched_replies)],
    ["in use", `${(link.busy_us / 1e6).toFixed(1)} s by its clock`],
    ["board reconnected", summary?.reconnects || undefined],
    ["board restarted", summary?.restarts || undefined],
  ]));
}
