/** Every icon of the page as strokes on a 16 px grid (the logo on 20), drawn in the text's colour. */

const SVG = 'http://www.w3.org/2000/svg';

/** @type {Record<string, (string | Record<string, string>)[]>} */
const STROKES = {
  search: [{ is: 'circle', cx: '7', cy: '7', r: '4.25' }, 'm10.2 10.2 3.3 3.3'],
  plus: ['M8 3v10M3 8h10'],
  inbox: [
    'M2.5 9.5 4.4 3.6h7.2l1.9 5.9v3a1 1 0 0 1-1 1h-9a1 1 0 0 1-1-1z',
    'M2.5 9.5h3.2c.2 1.3 1.1 2 2.3 2s2.1-.7 2.3-2h3.2',
  ],
  right: ['m6 3.5 4.5 4.5L6 12.5'],
  down: ['m3.5 6 4.5 4.5L12.5 6'],
  left: ['M10 3.5 5.5 8l4.5 4.5'],
  up: ['M3.5 10 8 5.5 12.5 10'],
  back: ['M13 8H3.5M7.5 3.8 3.3 8l4.2 4.2'],
  folder: ['M2 12V4.5a1 1 0 0 1 1-1h3l1.5 1.7H13a1 1 0 0 1 1 1V12a1 1 0 0 1-1 1H3a1 1 0 0 1-1-1z'],
  terminal: [
    { is: 'rect', x: '1.8', y: '2.8', width: '12.4', height: '10.4', rx: '1.6' },
    'm4.7 6.2 2.1 1.9-2.1 1.9M8.6 10.3h2.7',
  ],
  chat: ['M2.3 3.8a1 1 0 0 1 1-1h9.4a1 1 0 0 1 1 1v6a1 1 0 0 1-1 1H7.3L4.3 13.3v-2.5h-1a1 1 0 0 1-1-1z'],
  gear: [
    'M2.2 4.7h6.1M11.7 4.7h2.1M2.2 11.3h2.1M7.7 11.3h6.1',
    { is: 'circle', cx: '10', cy: '4.7', r: '1.7' },
    { is: 'circle', cx: '6', cy: '11.3', r: '1.7' },
  ],
  wrap: ['M2 3.5h12M2 8h9.5a2.3 2.3 0 0 1 0 4.6H8.6', 'm10.2 10.8-1.8 1.8 1.8 1.8M2 12.6h3'],
  x: ['m4 4 8 8M12 4l-8 8'],
  more: [{ is: 'path', d: 'M3.5 8h.01M8 8h.01M12.5 8h.01', 'stroke-width': '2.2' }],
  branch: [
    { is: 'circle', cx: '4.5', cy: '3.6', r: '1.5' },
    { is: 'circle', cx: '4.5', cy: '12.4', r: '1.5' },
    { is: 'circle', cx: '11.5', cy: '5.2', r: '1.5' },
    'M4.5 5.1v5.8M11.5 6.7c0 2.4-2 2.8-4 3-1.6.1-3 .5-3 1.2',
  ],
  file: ['M4 2.3h5l3.2 3.3v7.1a1 1 0 0 1-1 1H4a1 1 0 0 1-1-1V3.3a1 1 0 0 1 1-1z', 'M8.8 2.5v3.3h3.3'],
  pin: ['M6 2.5h4l-.5 4.2 2.3 2.3H4.2l2.3-2.3z', 'M8 9v4.5'],
  edit: ['m10.3 3 2.7 2.7-7.3 7.3-3.2.5.5-3.2z', 'm8.8 4.5 2.7 2.7'],
  check: ['m3.2 8.6 3.1 3.1 6.5-7.1'],
  okc: [{ is: 'circle', cx: '8', cy: '8', r: '5.7' }, 'm5.5 8.2 1.8 1.8 3.3-3.7'],
  xc: [{ is: 'circle', cx: '8', cy: '8', r: '5.7' }, 'm6 6 4 4M10 6l-4 4'],
  alert: ['M8 2.6 14.2 13H1.8z', 'M8 6.6v3M8 11.3v.01'],
  info: [{ is: 'circle', cx: '8', cy: '8', r: '5.7' }, 'M8 7.4v3.4M8 5.2v.01'],
  clock: [{ is: 'circle', cx: '8', cy: '8', r: '5.7' }, 'M8 4.8V8l2.2 1.5'],
  send: ['M8 13V3.2M3.8 7.2 8 3l4.2 4.2'],
  stop: [{ is: 'rect', x: '4.2', y: '4.2', width: '7.6', height: '7.6', rx: '1.2' }],
  pause: ['M5.7 3.8v8.4M10.3 3.8v8.4'],
  clip: ['m12.8 7.5-5 5a3 3 0 0 1-4.3-4.3l5.4-5.3a2 2 0 0 1 2.9 2.8l-5.3 5.3a1 1 0 0 1-1.5-1.4l4.7-4.7'],
  panel: [{ is: 'rect', x: '2', y: '2.8', width: '12', height: '10.4', rx: '1.6' }, 'M10 2.8v10.4'],
  side: [{ is: 'rect', x: '2', y: '2.8', width: '12', height: '10.4', rx: '1.6' }, 'M6 2.8v10.4'],
  eye: ['M1.6 8S4 3.7 8 3.7 14.4 8 14.4 8 12 12.3 8 12.3 1.6 8 1.6 8z', { is: 'circle', cx: '8', cy: '8', r: '1.9' }],
  share: ['M8 9.8V2.6M5.3 5 8 2.4 10.7 5', 'M4.3 7.6H3v5.8h10V7.6h-1.3'],
  copy: [
    { is: 'rect', x: '5.6', y: '5.6', width: '7.9', height: '7.9', rx: '1.3' },
    'M10.4 5.4V3.5a1 1 0 0 0-1-1H3.5a1 1 0 0 0-1 1v5.9a1 1 0 0 0 1 1h1.9',
  ],
  export: ['M8 2.6v7.2M5.3 7.4 8 10.1l2.7-2.7', 'M3 11v2.4h10V11'],
  launch: ['M6.2 3.3H3.5a1 1 0 0 0-1 1v8.2a1 1 0 0 0 1 1h8.2a1 1 0 0 0 1-1V9.8', 'M9.3 2.5h4.2v4.2M13.3 2.7 7.5 8.5'],
  play: ['M4.7 3.2v9.6L12.8 8z'],
  think: ['M5.6 10.6A4.3 4.3 0 1 1 10.4 10.6v1.2H5.6z', 'M6.3 13.8h3.4'],
  plan: ['m2.3 4.3 1 1 1.7-2M2.3 10.8l1 1 1.7-2M7.5 4.5h6M7.5 11h6'],
  trash: ['M2.8 4.3h10.4M6 4.1V2.7h4v1.4M4.2 4.5l.6 8.8h6.4l.6-8.8'],
  grip: [{ is: 'path', d: 'M6 4v.01M10 4v.01M6 8v.01M10 8v.01M6 12v.01M10 12v.01', 'stroke-width': '2' }],
  refresh: [
    'M13.2 7A5.3 5.3 0 0 0 3.6 5.2L2.6 6.5M2.6 3.2v3.3h3.3M2.8 9a5.3 5.3 0 0 0 9.6 1.8l1-1.3M13.4 12.8V9.5h-3.3',
  ],
  off: [
    'M2 2.5 13.8 13.5M4.7 8.5a4.8 4.8 0 0 1 2-1.2M2.4 6.2A8.3 8.3 0 0 1 4.6 4.8' +
      'M7 4a8.3 8.3 0 0 1 6.6 2.2M9.8 7.6c.6.2 1.1.5 1.5.9M8 12v.01',
  ],
  device: [{ is: 'rect', x: '2', y: '3', width: '12', height: '7.8', rx: '1.3' }, 'M8 10.8v2.4M5.3 13.3h5.4'],
  phone: [{ is: 'rect', x: '4.6', y: '1.9', width: '6.8', height: '12.2', rx: '1.5' }, 'M7.3 11.9h1.4'],
  key: [{ is: 'circle', cx: '5', cy: '10.5', r: '2.7' }, 'm7 8.6 5.8-5.8M10.4 5.2l1.9 1.9'],
  user: [{ is: 'circle', cx: '8', cy: '5.4', r: '2.6' }, 'M2.9 13.5c.6-2.6 2.5-4 5.1-4s4.5 1.4 5.1 4'],
  sun: [
    { is: 'circle', cx: '8', cy: '8', r: '2.8' },
    'M8 1.6v1.3M8 13.1v1.3M1.6 8h1.3M13.1 8h1.3M3.5 3.5l.9.9M11.6 11.6l.9.9M3.5 12.5l.9-.9M11.6 4.4l.9-.9',
  ],
  shield: ['M8 2 13 3.8v3.9c0 3-2 5.2-5 6.3-3-1.1-5-3.3-5-6.3V3.8z'],
  lock: [{ is: 'rect', x: '3.3', y: '7', width: '9.4', height: '6.5', rx: '1.3' }, 'M5.3 7V5a2.7 2.7 0 0 1 5.4 0v2'],
  log: ['M3.5 3h9M3.5 6.3h9M3.5 9.7h6M3.5 13h4'],
  diff: ['M8 2.5v5M5.5 5h5M5.5 11.5h5'],
  columns: [
    { is: 'rect', x: '2', y: '3', width: '5', height: '10', rx: '1.2' },
    { is: 'rect', x: '9', y: '3', width: '5', height: '10', rx: '1.2' },
  ],
  bolt: ['M8.8 2 3.8 9h3.7l-.4 5 5-7.2H8.4z'],
  link: [
    'M6.7 9.3a2.6 2.6 0 0 0 3.7 0l2.2-2.2a2.6 2.6 0 0 0-3.7-3.7l-.8.8' +
      'M9.3 6.7a2.6 2.6 0 0 0-3.7 0L3.4 8.9a2.6 2.6 0 0 0 3.7 3.7l.8-.8',
  ],
  globe: [
    { is: 'circle', cx: '8', cy: '8', r: '5.7' },
    'M2.5 8h11M8 2.3c3.3 3.6 3.3 7.8 0 11.4-3.3-3.6-3.3-7.8 0-11.4z',
  ],
  bell: ['M3.3 11.5c1-1 1-2.3 1-4.3a3.7 3.7 0 0 1 7.4 0c0 2 0 3.3 1 4.3zM6.7 13.5h2.6'],
  at: [{ is: 'circle', cx: '8', cy: '8', r: '2.4' }, 'M10.4 5.6v3.2c0 1.9 3.3 1.9 3.3-.8A5.7 5.7 0 1 0 11 12.9'],
  list: ['M6 4h7.5M6 8h7.5M6 12h7.5M2.7 4v.01M2.7 8v.01M2.7 12v.01'],
  code: ['M5.5 4.5 2 8l3.5 3.5M10.5 4.5 14 8l-3.5 3.5'],
  star: ['M8 2.3 9.7 6l4 .5-3 2.7.8 4L8 11.2l-3.5 2 .8-4-3-2.7 4-.5z'],
  book: ['M8 4.2C6.8 3.2 5 2.9 2.5 3v9.3c2.5-.1 4.3.2 5.5 1.2 1.2-1 3-1.3 5.5-1.2V3c-2.5-.1-4.3.2-5.5 1.2zM8 4.2v9.3'],
  logo: ['M1.5 12.8h5M13.5 12.8h5', 'M4.3 12.6 9 4.6M15.7 12.6 11 4.6', 'M4 12.8v3.4M16 12.8v3.4'],
};

/**
 * Each is drawn once and copied from then on: a page holds hundreds.
 * @type {Map<string, SVGSVGElement>}
 */
const drawn = new Map();

/**
 * @param {string} name
 * @param {number} [size]
 * @returns {SVGSVGElement}
 */
export function icon(name, size = 16) {
  const key = `${name} ${size}`;
  const known = drawn.get(key) ?? draw(name, size);
  drawn.set(key, known);
  return /** @type {SVGSVGElement} */ (known.cloneNode(true));
}

/**
 * @param {string} name
 * @param {number} size
 */
function draw(name, size) {
  const svg = document.createElementNS(SVG, 'svg');
  const box = name === 'logo' ? 20 : 16;
  svg.setAttribute('viewBox', `0 0 ${box} ${box}`);
  svg.setAttribute('width', String(size));
  svg.setAttribute('height', String(size));
  svg.setAttribute('class', name === 'logo' ? 'logo' : 'icon');
  svg.setAttribute('aria-hidden', 'true');
  for (const stroke of STROKES[name] ?? []) {
    const { is, ...attributes } = typeof stroke === 'string' ? { is: 'path', d: stroke } : stroke;
    const shape = document.createElementNS(SVG, is);
    for (const [key, value] of Object.entries(attributes)) shape.setAttribute(key, value);
    svg.append(shape);
  }
  return svg;
}
