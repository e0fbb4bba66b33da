"""Finds controls and words that leave their box, lie on each other or look like nothing: seen at once."""

from playwright.async_api import Page

SPILLS = """() => {
  const BOX = '.composer, .card, .menu, .request, .failure-card, form, fieldset, dialog';
  const GROUP = 'form, fieldset, .composer__row, .chip-row';
  const seen = { opacityProperty: true, visibilityProperty: true };
  const controls = [...document.querySelectorAll('button, input, select, textarea, .chip')]
    .filter((one) => one.checkVisibility(seen) && !one.closest('.spoken, .skip'))
    .map((one) => ({ one, at: one.getBoundingClientRect() }))
    .filter(({ at }) => at.width > 0 && at.height > 0);
  const named = (one) => one.outerHTML.slice(0, 90);
  // What scrolls sideways, or lets nothing be seen outside of it, is no box that can be left.
  const cuts = (box) => getComputedStyle(box).overflowX !== 'visible';
  const outside = controls.filter(({ one, at }) => {
    const box = one.parentElement.closest(BOX);
    if (!box || cuts(box)) return false;
    const around = box.getBoundingClientRect();
    return around.width > 0 && (at.right > around.right + 1 || at.left < around.left - 1);
  });
  const LOOKS = '.is-primary, .line, .quiet, .danger';
  const plain = controls.filter(({ one }) => one.matches('.button') && !one.matches(LOOKS));
  const words = [...document.querySelectorAll('.card :is(p, li, dd, h3, code), .request :is(p, span, code)')]
    .filter((one) => one.checkVisibility(seen) && !one.closest('.spoken') && one.textContent.trim())
    .map((one) => ({ one, at: one.getBoundingClientRect() }))
    .filter(({ one, at }) => {
      const box = one.closest('.card, .request').getBoundingClientRect();
      const scrolls = one.closest('.table-frame, pre, .request__command, .request__diff, .copy-line');
      return at.width > 0 && !scrolls && (at.right > box.right + 1 || at.left < box.left - 1);
    });
  const FIELD = 'input:not([type=checkbox], [type=radio], [type=file]), textarea, select';
  const tiny = controls.filter(({ one, at }) => one.matches(FIELD) && at.width < 60);
  const floats = (one) => ['absolute', 'fixed', 'sticky'].includes(getComputedStyle(one).position);
  const onAnother = controls.filter(({ one, at }) => {
    const group = one.closest(GROUP);
    if (!group || floats(one)) return false;
    return controls.some(({ one: two, at: there }) => {
      if (two === one || two.closest(GROUP) !== group || floats(two)) return false;
      if (one.contains(two) || two.contains(one)) return false;
      const wide = Math.min(at.right, there.right) - Math.max(at.left, there.left);
      const high = Math.min(at.bottom, there.bottom) - Math.max(at.top, there.top);
      return wide > 2 && high > 2;
    });
  });
  return [
    ...plain.map(({ one }) => 'has no look of a button: ' + named(one)),
    ...words.map(({ one }) => 'has words outside of its box: ' + named(one)),
    ...tiny.map(({ one }) => 'is too narrow to write in: ' + named(one)),
    ...outside.map(({ one }) => 'leaves its box: ' + named(one)),
    ...onAnother.map(({ one }) => 'lies on another: ' + named(one)),
  ];
}"""


async def spills(page: Page) -> list[str]:
    return await page.evaluate(SPILLS)
