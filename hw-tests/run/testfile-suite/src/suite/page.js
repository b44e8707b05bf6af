// Cases of test files have no values of their own on the page: differences are text.
const suite = {
  value: "call",
  subject: "routine",
  none: "no routine",
  histogram: "T-states of the longest call of each case",
  read: calls => calls,
  wrong: one => one.differences.length,
  times: one => one.values,
  difference: ({ what, expected, actual, place }) =>
    what + (expected ? `: expected ${expected}, got ${actual}` : "") + (place ? ` at ${place}` : ""),
  details: () => [],
  figure: () => undefined,
  table: () => undefined,
};
