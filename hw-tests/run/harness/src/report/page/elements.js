// Elements of the page. The script of a suite follows; it defines `suite`:
//   value              the name of a compared value
//   subject, none      the name of what a case is about, and of a case about nothing
//   histogram          the title of the histogram of T-states
//   read(values)       the values of a case, from those in the page's data
//   wrong(one)         the number of wrong values of a case
//   times(one)         the T-states of its values
//   difference(found)  a difference as text
//   details(found)     elements below that text
//   figure(one)        an element beside the text on an opened case, or undefined
//   table(one)         an element below it, or undefined
const SVG = "http://www.w3.org/2000/svg";

function element(name, attributes = {}, ...children) {
  return dress(document.createElement(name), attributes, children);
}

function shape(name, attributes = {}, ...children) {
  return dress(document.createElementNS(SVG, name), attributes, children);
}

function dress(made, attributes, children) {
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}
