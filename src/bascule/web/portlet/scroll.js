/** Follows the end while the reader is there, stays put while they are not, asks for more near either edge. */

const NEAR = 48; // pixels that still count as the end
const EDGE = 800; // so far from an edge the next page is asked for

export class Scroll {
  /**
   * @param {HTMLElement} column
   * @param {HTMLElement} jump
   * @param {{live: () => boolean, older: () => void, newer: () => void, latest: () => void}} window
   */
  constructor(column, jump, window) {
    this.atEnd = true;
    this.column = column;
    this.jump = jump;
    this.window = window;
    this.root = /** @type {HTMLElement} */ (document.scrollingElement);
    this.last = 0;
    addEventListener('scroll', () => this.#moved(), { passive: true });
    jump.onclick = () => window.latest();
    new ResizeObserver(() => this.follow()).observe(document.body);
    addEventListener('resize', () => this.follow());
  }

  #moved() {
    const { scrollTop, scrollHeight, clientHeight } = this.root;
    const below = scrollHeight - scrollTop - clientHeight;
    // Growing text moves the end away from the reader; only going up is leaving it.
    if (below < NEAR) this.atEnd = this.window.live();
    else if (scrollTop < this.last - 1) this.atEnd = false;
    this.last = scrollTop;
    this.#show();
    this.near();
  }

  /** Ask for what the reader is about to reach. */
  near() {
    const { scrollTop, scrollHeight, clientHeight } = this.root;
    if (scrollTop < EDGE) this.window.older();
    if (scrollHeight - scrollTop - clientHeight < EDGE) this.window.newer();
  }

  #show() {
    this.jump.hidden = this.atEnd;
    if (this.atEnd) this.jump.classList.remove('fresh');
  }

  follow() {
    if (!this.atEnd) return;
    this.root.scrollTop = this.root.scrollHeight;
    this.last = this.root.scrollTop;
  }

  toEnd() {
    this.atEnd = true;
    this.#show();
    this.follow();
  }

  /** Something new is below, out of sight. */
  news() {
    if (!this.atEnd) this.jump.classList.add('fresh');
  }

  /**
   * Whatever `change` puts above or takes away, the reader keeps seeing the same lines.
   * @param {() => void} change
   */
  keeping(change) {
    const anchor = this.reader();
    const top = anchor?.getBoundingClientRect().top ?? 0;
    change();
    if (anchor?.isConnected) this.root.scrollTop += anchor.getBoundingClientRect().top - top;
    this.last = this.root.scrollTop;
  }

  /**
   * The first block in sight.
   * @returns {Element | undefined}
   */
  reader() {
    const { children } = this.column;
    let low = 0;
    let high = children.length - 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (children[middle].getBoundingClientRect().bottom > 0) high = middle;
      else low = middle + 1;
    }
    return children[low];
  }

  /** The first number of what the reader looks at. */
  readerSeq() {
    return this.atEnd
      ? Infinity
      : Number(/** @type {HTMLElement | undefined} */ (this.reader())?.dataset.seq ?? Infinity);
  }

  /**
   * @param {Element} element
   * @param {ScrollLogicalPosition} block
   */
  to(element, block) {
    this.atEnd = false;
    element.scrollIntoView({ block });
    this.last = this.root.scrollTop;
    this.#show();
  }

  /**
   * A place in the text in the middle, if it is not near it.
   * @param {DOMRect} box
   */
  center(box) {
    const off = box.top + box.height / 2 - this.root.clientHeight / 2;
    if (!box.height || Math.abs(off) < 2) return;
    this.root.scrollTop += off;
    this.last = this.root.scrollTop;
  }

  /**
   * @param {number} step to the next (1) or the one before (-1) of the reader's own prompts
   * @returns {boolean} whether there was one
   */
  toPrompt(step) {
    const own = [...this.column.querySelectorAll('.user-message')];
    const tops = own.map((element) => element.getBoundingClientRect().top);
    const next = step > 0 ? tops.findIndex((top) => top > 20) : tops.findLastIndex((top) => top < -4);
    if (next < 0) return false;
    this.to(own[next], 'start');
    return true;
  }
}
