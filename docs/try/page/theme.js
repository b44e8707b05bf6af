// Light and dark: as the system has it, or as the reader chose, which the browser remembers.

const NAME = "tdl-try-theme";
const NEXT = { system: "light", light: "dark", dark: "system" };

/** @returns {"system" | "light" | "dark"} */
function stored() {
  try {
    const value = localStorage.getItem(NAME);
    return value === "light" || value === "dark" ? value : "system";
  } catch {
    return "system";
  }
}

/** @param {"system" | "light" | "dark"} theme */
function apply(theme) {
  if (theme === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
}

/**
 * Has a button go through the three themes.
 * @param {HTMLButtonElement} button
 */
export function themeSwitch(button) {
  let theme = stored();
  const show = () => {
    apply(theme);
    button.textContent = `Theme: ${theme}`;
  };
  button.addEventListener("click", () => {
    theme = /** @type {typeof theme} */ (NEXT[theme]);
    try {
      localStorage.setItem(NAME, theme);
    } catch {
      // The choice holds for this visit.
    }
    show();
  });
  show();
}
