/** The agent's own commands, offered while the message begins with a slash. */

import { h, update } from '../js/dom.js';

/**
 * @param {HTMLTextAreaElement} area
 * @param {() => {name: string, description?: string, hint?: string}[]} commands
 */
export function slashMenu(area, commands) {
  const element = h('div', { class: 'slash', role: 'listbox', 'aria-label': 'Commands', hidden: true });
  /** @type {{name: string, description?: string}[]} */
  let found = [];
  let at = 0;

  function look() {
    const match = /^\/([\w:-]*)$/.exec(area.value);
    found = match ? commands().filter((one) => one.name.toLowerCase().startsWith(match[1].toLowerCase())).slice(0, 30) : [];
    at = 0;
    draw();
  }

  function draw() {
    element.hidden = !found.length;
    update(element, found.map((one, n) => h('button', { type: 'button', role: 'option', 'aria-selected': String(n === at), class: n === at ? 'on' : '', onclick: () => choose(n) }, h('b', null, `/${one.name}`), h('small', null, one.description ?? ''))));
  }

  /** @param {number} n */
  function choose(n) {
    area.value = `/${found[n].name} `;
    found = [];
    draw();
    area.focus();
    area.dispatchEvent(new Event('input'));
  }

  return {
    element,
    look,
    close() {
      found = [];
      draw();
    },
    /** @param {KeyboardEvent} event @returns {boolean} whether the key was for the menu */
    key(event) {
      if (!found.length) return false;
      if (event.key === 'ArrowDown') at = (at + 1) % found.length;
      else if (event.key === 'ArrowUp') at = (at - 1 + found.length) % found.length;
      else if (event.key === 'Tab' || (event.key === 'Enter' && area.value !== `/${found[at].name}`)) {
        choose(at);
        event.preventDefault();
        return true;
      } else if (event.key === 'Escape') {
        found = [];
        event.stopPropagation();
      } else return false;
      event.preventDefault();
      draw();
      return true;
    },
  };
}
