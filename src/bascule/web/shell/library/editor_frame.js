/** The frame in which a prompt is written, known by its window; what it says is checked before anything uses it. */

import { h } from '../../js/dom.js';
import { checkedDelta } from '../../js/delta_check.js';
import { fieldsOf } from '../../js/json.js';

const KEYS = new Set(['s', 'k', 'enter']);

/** @typedef {import('../../js/types.d.ts').Delta} Delta */

export class EditorFrame {
  /**
   * @param {string} theme
   * @param {{changed: (delta: Delta) => void, key: (key: string) => void, broken: () => void}} on
   */
  constructor(theme, on) {
    this.on = on;
    this.number = 0; // of the document in view
    /** @type {MessagePort | null} */
    this.port = null;
    /**
     * The last document, for a frame that is not ready yet.
     * @type {Extract<import('../../js/frame_messages.d.ts').ToEditor, {type: 'open'}> | null}
     */
    this.opened = null;
    this.frame = h('iframe', { sandbox: 'allow-scripts', title: 'Text of the prompt', src: `/editor#${theme}` });
    addEventListener('message', (event) => this.#hello(event));
  }

  /**
   * Only our own frame, by its window; its origin is opaque and says nothing.
   * @param {MessageEvent} event
   */
  #hello(event) {
    if (event.source !== this.frame.contentWindow || event.data?.type !== 'ready' || event.ports.length !== 1) return;
    this.port = event.ports[0];
    this.port.onmessage = ({ data }) => this.#said(data);
    if (this.opened) this.port.postMessage(this.opened);
  }

  /** @param {unknown} said */
  #said(said) {
    const message = fieldsOf(said);
    const isKey = message.type === 'key' && typeof message.key === 'string' && KEYS.has(message.key);
    if (isKey && document.activeElement === this.frame) this.on.key(String(message.key));
    if (message.type !== 'changed' || message.number !== this.number) return;
    const delta = checkedDelta(message.delta);
    if (!delta) return this.on.broken();
    if (this.opened) this.opened = { ...this.opened, delta };
    this.on.changed(delta);
  }

  /**
   * @param {Delta} delta
   * @param {boolean} readOnly
   */
  open(delta, readOnly) {
    this.number += 1;
    this.opened = { type: 'open', number: this.number, delta, readOnly };
    this.port?.postMessage(this.opened);
  }

  /** @param {string} theme */
  setTheme(theme) {
    this.port?.postMessage({ type: 'theme', theme });
  }

  focus() {
    this.frame.focus();
    this.port?.postMessage({ type: 'focus' });
  }
}
