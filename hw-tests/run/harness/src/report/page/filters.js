// Filters, keys, the page's address; and the start of it all.
const search = document.getElementById("search");
const tagChoice = document.getElementById("tag");
const chosen = new Set();
const present = () => VERDICTS.filter(verdict => report.counts[verdict]);

function apply() {
  const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
  let shown = 0;
  for (const { row, one, text } of rows) {
    const fits = chosen.has(one.verdict) && (!tagChoice.value || one.tags.includes(tagChoice.value)) && words.every(word => text.includes(word));
    row.hidden = !fits;
    shown += fits;
  }
  document.getElementById("shown").textContent = `${number.format(shown)} of ${plural(rows.length, "case")} shown`;
  document.getElementById("nothing").hidden = shown > 0;
  for (const button of document.querySelectorAll("#verdicts button")) button.setAttribute("aria-pressed", chosen.has(button.dataset.verdict));
  remember();
}

// Stores the selection in the page address, so that the view can be shared.
function remember() {
  const view = new URLSearchParams();
  if (chosen.size < present().length) view.set("verdict", [...chosen].join(","));
  if (tagChoice.value) view.set("tag", tagChoice.value);
  if (search.value) view.set("search", search.value);
  try {
    history.replaceState(null, "", `#${view}`);
  } catch { /* a page without an address of its own */ }
}

function makeFilters() {
  const group = document.getElementById("verdicts");
  for (const verdict of present()) {
    const button = element("button", { type: "button", class: verdict, "data-verdict": verdict }, `${verdict} ${number.format(report.counts[verdict])}`);
    button.addEventListener("click", () => {
      if (!chosen.delete(verdict)) chosen.add(verdict);
      apply();
    });
    group.append(button);
  }
  const tags = whole ? Object.keys(whole.tags).sort() : [...new Set(cases.flatMap(one => one.tags))].sort();
  tagChoice.append(...tags.map(tag => element("option", { value: tag }, tag)));
  tagChoice.addEventListener("change", apply);
  search.addEventListener("input", apply);
  document.getElementById("reset").addEventListener("click", () => {
    present().forEach(verdict => chosen.add(verdict));
    tagChoice.value = search.value = "";
    apply();
  });
  document.getElementById("filters").hidden = false;
}

// Applies the selection of the page address; by default shows the problems, if any, with the first one open.
function firstView() {
  const view = new URLSearchParams(location.hash.slice(1));
  const troubles = TROUBLE.filter(verdict => report.counts[verdict]);
  const asked = [...view.keys()].length > 0;
  const wanted = view.get("verdict")?.split(",") ?? (asked || !troubles.length ? present() : troubles);
  wanted.filter(verdict => VERDICTS.includes(verdict)).forEach(verdict => chosen.add(verdict));
  tagChoice.value = view.get("tag") ?? "";
  if (tagChoice.selectedIndex < 0) tagChoice.value = "";
  search.value = view.get("search") ?? "";
  apply();
  const shown = rows.filter(({ row }) => !row.hidden);
  const first = shown.find(({ one }) => TROUBLE.includes(one.verdict)) ?? (asked ? shown[0] : undefined);
  if (first) {
    first.row.open = true;
    fill(first.row, first.one);
  }
}

function walk(step) {
  const shown = rows.map(({ row }) => row).filter(row => !row.hidden);
  const at = shown.indexOf(document.activeElement.closest?.("details"));
  const next = shown[at < 0 ? 0 : Math.min(shown.length - 1, Math.max(0, at + step))];
  next?.querySelector("summary").focus();
}

document.addEventListener("keydown", event => {
  if (event.target.matches("input, select") || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "/") {
    event.preventDefault();
    search.focus();
  } else if (event.key === "j" || event.key === "k") {
    walk(event.key === "j" ? 1 : -1);
  }
});

if (whole) document.getElementById("filters").after(element("p", { class: "note" }, `${plural(report.counts.pass, "case")} passed and are not listed here: report.json has them.`));
drawHead(report, cases);
drawFigures(page, cases);
document.getElementById("cases").append(...cases.map(makeRow));
makeFilters();
firstView();
document.documentElement.dataset.ready = "yes";
