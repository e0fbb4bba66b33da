"""Whether anything was put on what every JavaScript object inherits, in a page and in its frames."""

from typing import Any

from playwright.async_api import Browser

# Every own property of what everything inherits: its name, whether a loop meets it, and what it is.
INHERITED = """() => {
  const all = { Object, Function, Array, String, Number, Boolean, Map, Set, Promise, RegExp, Date, Error };
  const what = (one) => typeof one === 'function' ? Function.prototype.toString.call(one) : typeof one;
  const list = (one) => Reflect.ownKeys(one).map((key) => {
    const own = Object.getOwnPropertyDescriptor(one, key);
    return `${String(key)} ${own.enumerable} ${what(own.value)} ${what(own.get)} ${what(own.set)}`;
  }).sort();
  const met = [];
  for (const key in {}) met.push(key);
  const found = { met, keys: Object.keys(Object.prototype) };
  for (const [name, one] of Object.entries(all)) {
    found[name] = list(one);
    found[`${name}.prototype`] = list(one.prototype);
  }
  return found;
}"""


async def assert_unpolluted(browser: Browser) -> None:
    """In every document that is open: nothing is inherited but what a new, empty page has."""
    looked_at = 0
    for context in browser.contexts:
        open_pages = list(context.pages)
        empty: dict[str, Any] = await (await context.new_page()).evaluate(INHERITED)
        assert (empty["met"], empty["keys"]) == ([], [])
        for page in open_pages:
            for frame in page.frames:
                found = await frame.evaluate(INHERITED)
                differs = {name: set(found[name]) ^ set(empty[name]) for name in empty}
                assert {name: keys for name, keys in differs.items() if keys} == {}, frame.url
                looked_at += 1
    assert looked_at
