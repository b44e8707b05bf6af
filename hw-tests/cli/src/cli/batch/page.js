// The value of a program is what it sent.
const suite = {
  value: "output",
  subject: "program",
  none: "no program",
  histogram: "",
  read: ([code, output]) => ({ code, output }),
  wrong: one => one.differences.length,
  times: () => [],
  difference: text => text,
  details: () => [],
  figure: () => undefined,
  table: ({ values: { code, output } }) => {
    const ended = code === null ? "no exit code" : `exit code ${code}`;
    return element("div", {}, element("h3", {}, `Output, ${ended}`), element("pre", {}, output));
  },
};
