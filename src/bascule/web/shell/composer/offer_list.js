/** The offers that are shown, the one that is chosen, and what a key means for them. */

/**
 * `run` is for an offer that is more than its text: what was typed for it is taken away first.
 * @typedef {{label: string, note: string, insert: string, run?: () => void}} Offer
 */

export class OfferList {
  /** @type {Offer[]} */
  all = [];
  from = 0; // where in the text they begin
  #at = 0;

  get chosen() {
    return this.all[this.#at];
  }

  /**
   * @param {Offer[]} offers
   * @param {number} from
   * @param {string} [label] of the offer that stays chosen
   */
  fill(offers, from, label) {
    this.all = offers;
    this.from = from;
    const place = offers.findIndex((offer) => offer.label === label);
    this.#at = Math.max(0, place);
  }

  /**
   * While better ones are looked for, only those stay that Enter could mean.
   * @param {number} from
   * @param {string} before the text before the cursor
   * @returns {boolean} whether any went
   */
  narrow(from, before) {
    const typed = before.slice(from);
    const fitting = this.all.filter((offer) => from === this.from && holdsInOrder(offer.insert, typed));
    if (fitting.length === this.all.length) return false;
    this.all = fitting;
    this.#at = 0;
    return true;
  }

  /** @param {number} by */
  step(by) {
    this.#at = (this.#at + by + this.all.length) % this.all.length;
  }

  /**
   * A step down or up, choose or dismiss; null where the key is not for them. Enter sends an offer that is typed.
   * @param {string} key
   * @param {string} before the text before the cursor
   * @returns {1 | -1 | 'choose' | 'dismiss' | null}
   */
  actOf(key, before) {
    if (!this.all.length) return null;
    if (key === 'ArrowDown') return 1;
    if (key === 'ArrowUp') return -1;
    const isTyped = before.slice(this.from) === this.chosen.insert.trimEnd();
    if (key === 'Tab' || (key === 'Enter' && !isTyped)) return 'choose';
    return key === 'Escape' ? 'dismiss' : null;
  }
}

/**
 * Whether the letters are in the text, one after the other.
 * @param {string} text
 * @param {string} letters
 */
function holdsInOrder(text, letters) {
  const all = text.toLowerCase();
  let at = 0;
  for (const letter of letters.toLowerCase()) {
    at = all.indexOf(letter, at) + 1;
    if (!at) return false;
  }
  return true;
}
