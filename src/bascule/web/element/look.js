/** How `<bascule-launch>` looks: its styles and icons, made without any markup. */

const SVG = 'http://www.w3.org/2000/svg';
const PATHS = /** @type {Record<string, string[]>} */ ({
  ready: ['M6 3H3v10h10v-3', 'M9 2h5v5', 'M14 2 7 9'],
  launching: ['M8 2a6 6 0 1 1-6 6'],
  success: ['M2.5 8.5 6.5 12.5 13.5 4'],
  error: ['M8 1.5 15 14H1Z', 'M8 6v4', 'M8 11.8v.4'],
  offline: ['M6 3H3v10h10v-3', 'M9 2h5v5', 'M14 2 7 9', 'M2 14 14 2'],
});

const STYLES = `
:host { display: inline-block; font: 14px/1.4 system-ui, sans-serif; color-scheme: light dark; }
:host([hidden]) { display: none; }
button { font: inherit; cursor: pointer; }
.launch { display: inline-flex; align-items: center; gap: 6px; min-width: 32px; min-height: 32px; padding: 4px 8px;
  justify-content: center; color: inherit; background: transparent; border: 1px solid color-mix(in srgb, currentColor
  40%, transparent); border-radius: 6px; }
.launch:hover { background: color-mix(in srgb, currentColor 10%, transparent); }
button:focus-visible, textarea:focus-visible { outline: 2px solid light-dark(#3347c4, #a5b4ff); outline-offset: 2px; }
.launch svg { width: 16px; height: 16px; fill: none; stroke: currentColor; stroke-width: 1.6; stroke-linecap: round;
  stroke-linejoin: round; }
.launch[data-state=launching] { cursor: progress; }
.launch[data-state=launching] svg { animation: turn 0.8s linear infinite; }
.launch[data-state=success] { color: light-dark(#116329, #6fdd8b); }
.launch[data-state=error] { color: light-dark(#b3261e, #ff9d95); }
.launch[data-state=offline] svg, .launch[data-state=offline] ::slotted(*) { opacity: 0.55; }
.launch[disabled] { cursor: not-allowed; opacity: 0.5; }
@keyframes turn { to { transform: rotate(1turn); } }
@media (prefers-reduced-motion: reduce) { .launch[data-state=launching] svg { animation-duration: 6s; } }
.toast { position: fixed; inset: auto 16px 16px auto; z-index: 2147483647; max-width: min(420px, calc(100vw - 32px));
  padding: 10px 14px; border-radius: 8px; color: #fff; background: #23283b; box-shadow: 0 4px 18px rgb(0 0 0 / 35%); }
.toast:empty { width: 1px; height: 1px; padding: 0; overflow: hidden; box-shadow: none; clip-path: inset(50%); }
.toast[data-tone=error] { background: #8c1d18; }
dialog { max-width: min(560px, calc(100vw - 32px)); border: 1px solid light-dark(#c3c7d6, #4a5068); border-radius: 12px;
  padding: 20px; color: light-dark(#1b1e2b, #eceef6); background: light-dark(#fff, #23263a); }
dialog::backdrop { background: rgb(0 0 0 / 45%); }
dialog h2 { margin: 0 0 8px; font-size: 18px; }
dialog code { padding: 1px 5px; border-radius: 4px; background: light-dark(#eceef6, #343955); }
dialog textarea { box-sizing: border-box; width: 100%; height: 96px; padding: 8px 10px;
  font: 13px/1.5 ui-monospace, monospace; color: inherit; background: light-dark(#f6f7fb, #1c1e2c);
  border: 1px solid light-dark(#7d8399, #8a90aa); border-radius: 6px; }
.buttons { display: flex; flex-wrap: wrap; gap: 8px; margin-top: 12px; }
.buttons button { min-height: 32px; padding: 4px 12px; border: 1px solid light-dark(#7d8399, #8a90aa);
  border-radius: 6px; color: inherit; background: transparent; }
`;

/** @type {CSSStyleSheet | null} */
let sheet = null;

/** A sheet that is made by script is not an inline style: a page's policy has nothing against it. */
export function stylesOfElement() {
  sheet ??= new CSSStyleSheet();
  sheet.replaceSync(STYLES);
  return sheet;
}

/**
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} tag
 * @param {Record<string, string>} attributes
 * @param {...(Node | string)} children
 * @returns {HTMLElementTagNameMap[K]}
 */
export function made(tag, attributes, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...children);
  return node;
}

/** @param {string} state */
export function iconOf(state) {
  const svg = document.createElementNS(SVG, 'svg');
  svg.setAttribute('viewBox', '0 0 16 16');
  svg.setAttribute('aria-hidden', 'true');
  for (const d of PATHS[state]) {
    const path = document.createElementNS(SVG, 'path');
    path.setAttribute('d', d);
    svg.append(path);
  }
  return svg;
}
