/** Draws Mermaid's diagrams, in a frame of its own: loaded with the first diagram of a session. */

import mermaid from '../vendor/mermaid.js';
import { drawOnRequest } from './frame.js';

// Mermaid writes its drawing as markup. Here that may be: it can hold no script, and nothing else is in this frame.
/** @type {TrustedTypesWindow} */ (window).trustedTypes?.createPolicy('default', {
  createHTML: (/** @type {string} */ text) => text,
});

const FONT = 'system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif';
const DARK = {
  darkMode: true,
  background: '#13141c',
  primaryColor: '#242739',
  primaryTextColor: '#e6eafc',
  primaryBorderColor: '#7aa2f7',
  secondaryColor: '#2d3148',
  tertiaryColor: '#1a1b26',
  lineColor: '#97a1cd',
  textColor: '#c9d2f6',
  noteBkgColor: '#2d3148',
  noteTextColor: '#e6eafc',
};
const LIGHT = {
  darkMode: false,
  background: '#fdfdff',
  primaryColor: '#eceef6',
  primaryTextColor: '#171c38',
  primaryBorderColor: '#2e5ec9',
  secondaryColor: '#dde1ee',
  tertiaryColor: '#f3f4fa',
  lineColor: '#535b81',
  textColor: '#2a3154',
  noteBkgColor: '#dde1ee',
  noteTextColor: '#171c38',
};
const FLAT = { dropShadow: 'none', useGradient: false };
const MAX_EDGES = 300;
const MAX_TEXT = 20_000;

let drawn = 0;
drawOnRequest(async ({ text, dark }) => {
  mermaid.initialize({
    startOnLoad: false,
    securityLevel: 'strict',
    suppressErrorRendering: true,
    htmlLabels: false,
    flowchart: { htmlLabels: false },
    maxTextSize: MAX_TEXT,
    maxEdges: MAX_EDGES,
    theme: 'base',
    fontFamily: FONT,
    themeVariables: { ...(dark ? DARK : LIGHT), ...FLAT, fontFamily: FONT, fontSize: '14px' },
  });
  const { svg } = await mermaid.render(`drawn${drawn++}`, text);
  return sized(svg);
});

/**
 * An image has the size that is set; Mermaid leaves that to the page around it.
 * @param {string} markup
 */
function sized(markup) {
  const svg = new DOMParser().parseFromString(markup, 'image/svg+xml').documentElement;
  if (svg.nodeName !== 'svg') throw new Error('It could not be drawn.');
  const [, , width, height] = (svg.getAttribute('viewBox') ?? '0 0 600 400').split(/[ ,]+/);
  svg.setAttribute('width', width);
  svg.setAttribute('height', height);
  svg.removeAttribute('style');
  return new XMLSerializer().serializeToString(svg);
}
