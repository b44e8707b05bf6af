// Elements of the page, made from tag, attributes and children. Text always goes in as text.

const SVG = "http://www.w3.org/2000/svg";

/**
 * Puts attributes (or listeners, where the value is a function) on an element, and children in it.
 * @template {Element} E
 * @param {E} element
 * @param {Record<string, any>} attributes
 * @param {(Node | string | number | null | undefined | false)[]} children
 * @returns {E}
 */
function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(name, value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined)
      element.setAttribute(name, String(value));
  }
  put(element, ...children);
  return element;
}

/**
 * Appends children; null, undefined and false are passed over.
 * @param {Element} element
 * @param {(Node | string | number | null | undefined | false)[]} children
 */
export function put(element, ...children) {
  for (const child of children) {
    if (child === null || child === undefined || child === false) continue;
    element.append(child instanceof Node ? child : String(child));
  }
}

/**
 * Replaces all children of an element.
 * @param {Element} element
 * @param {(Node | string | number | null | undefined | false)[]} children
 */
export function replace(element, ...children) {
  element.textContent = "";
  put(element, ...children);
}

/**
 * @template {keyof HTMLElementTagNameMap} T
 * @param {T} tag
 * @param {Record<string, any>} [attributes]
 * @param {(Node | string | number | null | undefined | false)[]} children
 * @returns {HTMLElementTagNameMap[T]}
 */
export function h(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

/**
 * The same for SVG.
 * @template {keyof SVGElementTagNameMap} T
 * @param {T} tag
 * @param {Record<string, any>} [attributes]
 * @param {(Node | string | number | null | undefined | false)[]} children
 * @returns {SVGElementTagNameMap[T]}
 */
export function svg(tag, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

/**
 * A button with a text.
 * @param {string} text
 * @param {(event: MouseEvent) => void} onClick
 * @param {Record<string, any>} [attributes]
 */
export function button(text, onClick, attributes = {}) {
  return h("button", { type: "button", click: onClick, ...attributes }, text);
}

/**
 * A menu that a button opens.
 * @param {string} text
 * @param {Node[]} items
 */
export function menu(text, ...items) {
  const list = h("div", { class: "items" }, ...items);
  const box = h("details", { class: "menu" }, h("summary", {}, text), list);
  const close = () => (box.open = false);
  list.addEventListener("click", (event) => event.target instanceof HTMLButtonElement && close());
  box.addEventListener("keydown", (event) => event.key === "Escape" && close());
  box.addEventListener("focusout", (event) => {
    const to = event.relatedTarget;
    if (to instanceof Node && !box.contains(to)) close();
  });
  return box;
}

let numbered = 0;

/**
 * A labelled drop-down list. The label is beside the list, so that its name has no option in it.
 * @param {string} label
 * @param {[value: string, text: string][]} options
 * @param {(value: string) => void} onChange
 */
export function choice(label, options, onChange) {
  const id = `choice${++numbered}`;
  const select = h("select", { id, change: () => onChange(select.value) });
  setOptions(select, options);
  return { element: h("div", { class: "field" }, h("label", { for: id }, label), select), select };
}

/**
 * Replaces the options of a list, and keeps the one that is chosen if it is still there.
 * @param {HTMLSelectElement} select
 * @param {[value: string, text: string][]} options
 */
export function setOptions(select, options) {
  const chosen = select.value;
  replace(select, ...options.map(([value, text]) => h("option", { value }, text)));
  if (options.some(([value]) => value === chosen)) select.value = chosen;
}

/**
 * Runs a function when its caller has been quiet for some milliseconds.
 * @param {number} milliseconds
 * @param {() => void} run
 */
export function debounce(milliseconds, run) {
  /** @type {number | undefined} */
  let timer;
  return () => {
    clearTimeout(timer);
    timer = window.setTimeout(run, milliseconds);
  };
}

/**
 * A message of an error, whatever was thrown.
 * @param {unknown} error
 */
export function messageOf(error) {
  return error instanceof Error ? error.message : String(error);
}

/**
 * A number with thin spaces between groups of three digits.
 * @param {number} value
 */
export function grouped(value) {
  return String(value).replace(/\B(?=(\d{3})+$)/g, "\u202f");
}

/**
 * Hexadecimal digits in capitals.
 * @param {number} value
 * @param {number} digits
 */
export function hex(value, digits) {
  return value.toString(16).toUpperCase().padStart(digits, "0");
}

/**
 * Has the browser save bytes as a file.
 * @param {string} name
 * @param {Uint8Array} bytes
 */
export function download(name, bytes) {
  const url = URL.createObjectURL(new Blob([new Uint8Array(bytes)]));
  h("a", { href: url, download: name }).click();
  URL.revokeObjectURL(url);
}
