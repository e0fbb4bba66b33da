/** Follows the end while the reader is there, stays put while they are not, asks for more at the top. */

const NEAR = 48;

export class Scroll {
  /**
   * @param {HTMLElement} jump
   * @param {() => void} wantMore
   */
  constructor(jump, wantMore) {
    this.atEnd = true;
    this.jump = jump;
    this.root = /** @type {HTMLElement} */ (document.scrollingElement);
    addEventListener('scroll', () => {
      this.atEnd = this.root.scrollHeight - this.root.scrollTop - this.root.clientHeight < NEAR;
      this.jump.hidden = this.atEnd;
      if (this.root.scrollTop < 400) wantMore();
    }, { passive: true });
    jump.onclick = () => this.toEnd();
    new ResizeObserver(() => this.follow()).observe(document.body);
    addEventListener('resize', () => this.follow());
  }

  follow() {
    if (this.atEnd) this.root.scrollTop = this.root.scrollHeight;
  }

  toEnd() {
    this.atEnd = true;
    this.jump.hidden = true;
    this.follow();
  }

  /** Whatever `change` puts above, the reader keeps seeing the same lines. @param {() => void} change */
  keeping(change) {
    const below = this.root.scrollHeight - this.root.scrollTop;
    change();
    this.root.scrollTop = this.root.scrollHeight - below;
  }

  /** @param {number} step to the next (1) or the one before (-1) of the reader's own prompts */
  toPrompt(step) {
    const own = [...document.querySelectorAll('.mu')];
    const tops = own.map((one) => one.getBoundingClientRect().top);
    const next = step > 0 ? tops.findIndex((top) => top > 20) : tops.findLastIndex((top) => top < -4);
    if (next >= 0) {
      this.atEnd = false;
      own[next].scrollIntoView({ block: 'start' });
    }
  }
}
