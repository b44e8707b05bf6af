// T-states of ATTACK and XCHNG, square by square.
function histogramCard(cases) {
  const times = cases.flatMap(one => one.squares).map(word => word.t_states).filter(Boolean).sort((a, b) => a - b);
  if (times.length === 0) return null;
  const at = part => times[Math.min(times.length - 1, Math.floor(part * times.length))];
  const marks = [["median", at(.5)], ["95 %", at(.95)]];
  const told = [["least", times[0]], ...marks, ["most", at(1)]];
  const said = told.map(([name, time]) => `${name} ${number.format(time)}`).join(", ");
  const made = card("T-states of ATTACK and XCHNG, square by square", histogram(times, marks, said),
    element("p", {}, `${plural(times.length, "square")}: ${said}`));
  made.classList.add("wide");
  return made;
}

// Counts of times in steps of a round size.
function binsOf(times, most) {
  const step = niceStep((times[times.length - 1] - times[0]) / most);
  const from = Math.floor(times[0] / step) * step;
  const counts = new Array(Math.floor((times[times.length - 1] - from) / step) + 1).fill(0);
  for (const time of times) counts[Math.floor((time - from) / step)]++;
  return { step, from, counts };
}

function niceStep(step) {
  const power = 10 ** Math.floor(Math.log10(Math.max(step, 1)));
  return power * [1, 2, 5, 10].find(times => times * power >= step);
}

function histogram(times, marks, said) {
  const width = 900, height = 190, base = 160, top = 26;
  const { step, from, counts } = binsOf(times, 70);
  const most = Math.max(...counts), wide = width / counts.length;
  const x = time => (time - from) / step * wide;
  const svg = shape("svg", { class: "histogram", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `Histogram of T-states a square: ${said}` });
  for (const part of [.25, .5, .75, 1]) {
    const y = base - part * (base - top);
    svg.append(shape("line", { class: "grid", x1: 0, x2: width, y1: y, y2: y }));
    svg.append(shape("text", { x: width, y: y - 3, class: "end" }, number.format(Math.round(part * most))));
  }
  counts.forEach((count, bin) => {
    const tall = count && Math.max(1, count / most * (base - top));
    const range = `${number.format(from + bin * step)} to ${number.format(from + (bin + 1) * step - 1)}: ${plural(count, "square")}`;
    svg.append(shape("rect", { x: bin * wide + .5, y: base - tall, width: Math.max(1, wide - 1), height: tall, rx: 1 }, shape("title", {}, range)));
  });
  axis(svg, { step, from, counts, wide, base, width });
  marks.forEach(([name, time]) => {
    svg.append(shape("line", { class: "mark", x1: x(time), x2: x(time), y1: top - 14, y2: base }));
    svg.append(shape("text", { class: "mark", x: x(time) + 4, y: top - 5 }, name));
  });
  return svg;
}

// The base line with round numbers, at least one label's width apart.
function axis(svg, { step, from, counts, wide, base, width }) {
  svg.append(shape("line", { x1: 0, x2: width, y1: base, y2: base }));
  const every = niceStep(counts.length * step / 9);
  for (let time = Math.ceil(from / every) * every; time < from + counts.length * step; time += every) {
    const x = (time - from) / step * wide;
    svg.append(shape("line", { x1: x, x2: x, y1: base, y2: base + 4 }));
    svg.append(shape("text", { class: x < 20 ? "" : "middle", x: Math.min(x, width - 22), y: base + 18 }, number.format(time)));
  }
}
