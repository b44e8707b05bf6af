// T-states of the compared values.
function histogramCard(cases) {
  const times = timesOf(cases);
  if (times.length === 0) return null;
  const total = times.reduce((sum, [, count]) => sum + count, 0);
  const at = part => {
    let before = Math.min(total - 1, Math.floor(part * total));
    return times.find(([, count]) => (before -= count) < 0)[0];
  };
  const marks = [["median", at(.5)], ["95 %", at(.95)]];
  const told = [["least", at(0)], ...marks, ["most", at(1)]];
  const said = told.map(([name, time]) => `${name} ${number.format(time)}`).join(", ");
  const width = Math.min(1200, Math.max(320, document.getElementById("figures").clientWidth - 40));
  return card(suite.histogram, histogram(binsOf(times, at(.995), Math.round(width / 12)), width, marks, said),
    element("p", {}, `${plural(total, suite.value)}: ${said}`));
}

// Times in ascending order, each with the number of values that took so long.
function timesOf(cases) {
  if (whole) return whole.times;
  const counts = new Map();
  for (const time of cases.flatMap(suite.times)) if (time) counts.set(time, (counts.get(time) ?? 0) + 1);
  return [...counts].sort(([a], [b]) => a - b);
}

// Counts of times in steps of a round size; the last has all from `end` on, so that a few do not press the others together.
function binsOf(times, end, most) {
  const step = niceStep((end - times[0][0]) / most);
  const from = Math.floor(times[0][0] / step) * step;
  const counts = new Array(Math.floor((end - from) / step) + 1).fill(0);
  for (const [time, count] of times) counts[Math.min(counts.length - 1, Math.floor((time - from) / step))] += count;
  return { step, from, counts, isOpen: times[times.length - 1][0] >= from + counts.length * step };
}

function niceStep(step) {
  const power = 10 ** Math.floor(Math.log10(Math.max(step, 1)));
  return power * [1, 2, 5, 10].find(times => times * power >= step);
}

function histogram({ step, from, counts, isOpen }, width, marks, said) {
  const height = 190, base = 160, top = 26;
  const most = Math.max(...counts), wide = width / counts.length;
  const x = time => (time - from) / step * wide;
  const svg = shape("svg", { class: "histogram", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `Histogram of T-states a ${suite.value}: ${said}` });
  for (const part of [.25, .5, .75, 1]) {
    const y = base - part * (base - top);
    svg.append(shape("line", { class: "grid", x1: 0, x2: width, y1: y, y2: y }));
    svg.append(shape("text", { x: width, y: y - 3, class: "end" }, number.format(Math.round(part * most))));
  }
  counts.forEach((count, bin) => {
    const isRest = isOpen && bin === counts.length - 1;
    const tall = count && Math.max(1, count / most * (base - top));
    const upTo = isRest ? "and more" : `to ${number.format(from + (bin + 1) * step - 1)}`;
    svg.append(shape("rect", { class: isRest ? "rest" : "", x: bin * wide + .5, y: base - tall, width: Math.max(1, wide - 1), height: tall, rx: 1 },
      shape("title", {}, `${number.format(from + bin * step)} ${upTo}: ${plural(count, suite.value)}`)));
  });
  axis(svg, { step, from, counts, wide, base, width });
  for (const [name, time] of marks) {
    svg.append(shape("line", { class: "mark", x1: x(time), x2: x(time), y1: top - 14, y2: base }));
    svg.append(shape("text", { class: "mark", x: x(time) + 4, y: top - 5 }, name));
  }
  return svg;
}

// The base line with round numbers, each with room for its label.
function axis(svg, { step, from, counts, wide, base, width }) {
  svg.append(shape("line", { x1: 0, x2: width, y1: base, y2: base }));
  const every = niceStep(counts.length * step / (width / 90));
  for (let time = Math.ceil(from / every) * every; time < from + counts.length * step; time += every) {
    const x = (time - from) / step * wide;
    svg.append(shape("line", { x1: x, x2: x, y1: base, y2: base + 4 }));
    svg.append(shape("text", { class: x < 20 ? "" : "middle", x: Math.min(x, width - 22), y: base + 18 }, number.format(time)));
  }
}
