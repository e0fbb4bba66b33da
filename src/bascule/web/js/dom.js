/** Building and updating elements. Text only ever becomes text nodes, in order; nothing here takes HTML. */

import { icon } from './icons.js';
import { orderly } from './visible.js';

// Attributes that people read, or hear.
const READ = new Set(['title', 'aria-label', 'placeholder', 'alt']);

/** @typedef {Node | string | number | null | undefined | false} Child */

/**
 * Children as they go into an element: what stands for none is left out.
 * @param {Child[]} children
 */
const present = (children) =>
  children
    .filter((child) => child !== null && child !== undefined && child !== false)
    .map((child) => (typeof child === 'number' ? String(child) : child));

/**
 * What `h` gave an element to do: remembered here, for to read an element's own `on…` asks the browser each time.
 * @type {WeakMap<Node, Record<string, unknown>>}
 */
const handlers = new WeakMap();

/**
 * Fields whose text, or tick, `h` was given. Those of the others are the person's: drawing again leaves them alone.
 * @type {Record<'value' | 'checked', WeakSet<Node>>}
 */
const given = { value: new WeakSet(), checked: new WeakSet() };

/**
 * `h('button', { class: 'btn', onclick }, 'Send')`. `on…` become properties, `false`/`null` are left out.
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Record<string, unknown> | null} [props]
 * @param {...(Child | Child[])} children
 * @returns {HTMLElementTagNameMap[Tag]}
 */
export function h(tag, props, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(props ?? {})) {
    if (name === 'value' || name === 'checked') given[name].add(element);
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith('on')) listen(element, name, value);
    else if (name === 'value') Reflect.set(element, name, value);
    else if (name === 'checked') Reflect.set(element, name, true);
    else element.setAttribute(name, value === true ? '' : READ.has(name) ? orderly(String(value)) : String(value));
  }
  element.append(...present(children.flat()).map((child) => (typeof child === 'string' ? orderly(child) : child)));
  return element;
}

/**
 * @param {HTMLElement} element
 * @param {string} name
 * @param {unknown} handler
 */
function listen(element, name, handler) {
  Reflect.set(element, name, handler);
  const all = handlers.get(element);
  if (all) all[name] = handler;
  else handlers.set(element, { [name]: handler });
}

/**
 * A field that begins with this text and is the person's from then on: drawing again leaves it alone.
 * @template {HTMLInputElement | HTMLTextAreaElement} Field
 * @param {Field} field to which `h` was given no value
 * @param {string} text
 * @returns {Field}
 */
export function prefilled(field, text) {
  field.value = text;
  return field;
}

/**
 * @param {string} name
 * @param {string} label
 * @param {Record<string, unknown>} [props]
 */
export const iconButton = (name, label, props) =>
  h(
    'button',
    { type: 'button', title: label, 'aria-label': label, ...props, class: `icon-button ${props?.class ?? ''}`.trim() },
    icon(name),
  );

/**
 * Make `container` hold what `wanted` says with as few changes as can be, so that focus, scroll positions and
 * running animations survive. Children with `data-key` are matched by it, the others by place.
 * @param {Element} container
 * @param {Child[]} wanted
 */
export function update(container, wanted) {
  const fresh = document.createDocumentFragment();
  fresh.append(...present(wanted));
  matchChildren(container, fresh);
}

/**
 * @param {Node} node
 * @returns {string | null}
 */
const keyOf = (node) =>
  node.nodeType === Node.ELEMENT_NODE ? /** @type {Element} */ (node).getAttribute('data-key') : null;

/**
 * @param {Node} a
 * @param {Node} b
 */
const alike = (a, b) => a.nodeName === b.nodeName && keyOf(a) === keyOf(b);

/** @param {Node} parent */
function byKey(parent) {
  /** @type {Map<string, Node>} */
  const keyed = new Map();
  for (let node = parent.firstChild; node; node = node.nextSibling) {
    const key = keyOf(node);
    if (key) keyed.set(key, node);
  }
  return keyed;
}

/**
 * First, so that the children that stay need not be moved: an element that moves between the press and the release
 * of a button gets no click.
 * @param {Map<string, Node>} keyed the children there are
 * @param {Node} fresh
 */
function dropUnwanted(keyed, fresh) {
  const wanted = byKey(fresh);
  for (const [key, node] of keyed) {
    const match = wanted.get(key);
    if (match && alike(node, match)) continue;
    node.parentNode?.removeChild(node);
    keyed.delete(key);
  }
}

/**
 * @param {Node} old
 * @param {Node} fresh
 */
function matchChildren(old, fresh) {
  const keyed = byKey(old);
  if (keyed.size) dropUnwanted(keyed, fresh);
  let place = old.firstChild;
  for (let child = fresh.firstChild, next; child; child = next) {
    next = child.nextSibling; // before it may be moved
    const key = keyOf(child);
    const match = key ? keyed.get(key) : place && !keyOf(place) && alike(place, child) ? place : null;
    if (match && alike(match, child)) {
      if (match === place) place = place.nextSibling;
      else if (place && match.contains(document.activeElement)) moveBehind(match, place);
      else old.insertBefore(match, place);
      matchNode(match, child);
    } else {
      old.insertBefore(child, place);
    }
  }
  while (place) {
    const next = place.nextSibling;
    place.remove();
    place = next;
  }
}

/**
 * An element that is moved loses the focus, and with it what somebody types next: those before it are moved instead.
 * @param {Node} node
 * @param {Node} first of them
 */
function moveBehind(node, first) {
  for (let earlier = node.previousSibling; earlier; earlier = node.previousSibling) {
    node.parentNode?.insertBefore(earlier, node.nextSibling);
    if (earlier === first) return;
  }
}

/**
 * @param {Node} old
 * @param {Node} fresh
 */
function matchNode(old, fresh) {
  if (old instanceof Element && fresh instanceof Element) {
    if (old.hasAttribute('data-island')) return; // looked after by its own module
    matchAttributes(old, fresh);
    matchChildren(old, fresh);
  } else if (old.nodeValue !== fresh.nodeValue) {
    old.nodeValue = fresh.nodeValue;
  }
}

/**
 * A person opens, closes and copies; a fresh drawing does not know.
 * @param {Element} element
 * @param {string} name of an attribute
 */
const isPersons = (element, name) =>
  ['data-copied', 'data-ringing'].includes(name) || (name === 'open' && element.nodeName === 'DETAILS');

/**
 * A menu says at its button that it is open.
 * @param {Element} element
 * @param {string} name of an attribute
 */
const isMenus = (element, name) => name === 'aria-expanded' && element.hasAttribute('aria-haspopup');

/**
 * @param {Element} old
 * @param {Element} fresh
 */
function matchAttributes(old, fresh) {
  const names = fresh.getAttributeNames();
  for (const name of names) {
    if (isPersons(old, name)) continue;
    const value = fresh.getAttribute(name) ?? '';
    if (old.getAttribute(name) !== value) old.setAttribute(name, value);
  }
  if (old.attributes.length !== names.length || names.includes('open'))
    for (const name of old.getAttributeNames())
      if (!isPersons(old, name) && !isMenus(old, name) && !fresh.hasAttribute(name)) old.removeAttribute(name);
  matchHandlers(old, fresh);
  // A list's choice is given by its options.
  const hasText = given.value.has(fresh) || old.nodeName === 'SELECT';
  if (hasText && document.activeElement !== old) matchProperty('value', old, fresh);
  if (given.checked.has(fresh)) matchProperty('checked', old, fresh);
}

/**
 * @param {'value' | 'checked'} name
 * @param {Element} old
 * @param {Element} fresh
 */
function matchProperty(name, old, fresh) {
  const wanted = Reflect.get(fresh, name);
  if (Reflect.get(old, name) !== wanted) Reflect.set(old, name, wanted);
}

/**
 * @param {Element} old
 * @param {Element} fresh
 */
function matchHandlers(old, fresh) {
  const [had, wanted] = [handlers.get(old), handlers.get(fresh)];
  for (const name in had) if (!wanted?.[name]) Reflect.set(old, name, null);
  for (const name in wanted) Reflect.set(old, name, wanted[name]);
  if (wanted) handlers.set(old, wanted);
  else if (had) handlers.delete(old);
}
