/**
 * Lets xterm.js style itself under `style-src 'self'`. It writes rules into <style> elements and colours into
 * style attributes, which the policy refuses; the same rules in a sheet of our own, and the same colours through
 * an element's style object, are scripts' work and need no exception.
 */

const make = document.createElement.bind(document);

/** An element that stands where xterm.js wants its <style>, and keeps the rules in an adopted sheet. */
function standIn() {
  const sheet = new CSSStyleSheet();
  const element = make('x-sheet');
  element.hidden = true;
  Object.defineProperty(element, 'textContent', {
    get: () => [...sheet.cssRules].map((rule) => rule.cssText).join('\n'),
    set: (/** @type {string} */ rules) => {
      sheet.replaceSync(rules);
      if (!document.adoptedStyleSheets.includes(sheet))
        document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
    },
  });
  const remove = element.remove.bind(element);
  element.remove = () => {
    document.adoptedStyleSheets = document.adoptedStyleSheets.filter((otherSheet) => otherSheet !== sheet);
    remove();
  };
  return element;
}

Reflect.set(document, 'createElement', (/** @type {string} */ tag, /** @type {ElementCreationOptions} */ options) =>
  tag === 'style' ? standIn() : make(tag, options),
);

const setAttribute = Element.prototype.setAttribute;
Element.prototype.setAttribute = function set(/** @type {string} */ name, /** @type {string} */ value) {
  if (name === 'style' && this instanceof HTMLElement) this.style.cssText = value;
  else setAttribute.call(this, name, value);
};
