/** A QR code drawn from its rows of dots, dark on white in either theme, with the quiet border cameras need. */

const SVG = 'http://www.w3.org/2000/svg';
const BORDER = 4;

/**
 * @param {string[]} rows `1` is dark
 * @param {string} label
 */
export function qrView(rows, label) {
  const side = rows.length + 2 * BORDER;
  const svg = document.createElementNS(SVG, 'svg');
  const path = document.createElementNS(SVG, 'path');
  path.setAttribute(
    'd',
    runsOf(rows)
      .map(([x, y, n]) => `M${x + BORDER} ${y + BORDER}h${n}v1h-${n}z`)
      .join(''),
  );
  for (const [name, value] of Object.entries({
    viewBox: `0 0 ${side} ${side}`,
    class: 'qr-code',
    role: 'img',
    'aria-label': label,
    'shape-rendering': 'crispEdges',
  }))
    svg.setAttribute(name, value);
  svg.append(path);
  return svg;
}

/**
 * Dark dots beside each other as one stroke: place and length.
 * @param {string[]} rows
 * @returns {[number, number, number][]}
 */
export function runsOf(rows) {
  return rows.flatMap((row, y) =>
    [...row.matchAll(/1+/g)].map(
      (match) => /** @type {[number, number, number]} */ ([match.index, y, match[0].length]),
    ),
  );
}
