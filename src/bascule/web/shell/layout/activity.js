/** Tells the server that somebody is at this page, so that nothing is sent to their phone meanwhile. */

const EVERY = 20_000; // milliseconds; the server believes it for a minute
const SIGNS = ['pointerdown', 'pointermove', 'keydown', 'wheel', 'touchstart'];

/** @param {import('../app.js').App} app */
export function tellActivity(app) {
  let reported = -Infinity;
  /** @param {boolean} active */
  const tell = (active) => {
    const { line, me } = app.store.get();
    if (line.phase !== 'live' || !me || me.sessionId) return;
    reported = active ? performance.now() : -Infinity;
    // A hint: where it is lost, a notification too many is sent.
    app.api.active(active).catch(() => undefined);
  };
  const sign = () => {
    if (!document.hidden && performance.now() - reported > EVERY) tell(true);
  };
  for (const type of SIGNS) addEventListener(type, sign, { passive: true, capture: true });
  document.addEventListener('visibilitychange', () => (document.hidden ? tell(false) : sign()));
}
