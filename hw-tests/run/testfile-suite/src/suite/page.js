// Cases of test files have no values of their own on the page: differences are text.
const suite = {
  value: "call",
  subject: "routine",
  none: "no routine",
  histogram: "T-states of the longest call of each case",
  read: calls => calls,
  wrong: one => one.differences.length,
  times: one => one.values,
  difference: ({ subject, expected, actual, location }) =>
    subject + (expected ? `: expected ${expected}, got ${actual}` : "") + (location ? ` at ${location}` : ""),
  details: () => [],
  figure: () => undefined,
  table: () => undefined,
};
