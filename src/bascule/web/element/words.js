/** What `<bascule-launch>` says: tooltips, toasts, and the version of the bridge it was written for. */

export const BRIDGE_VERSION = '1.0';
export const BRIDGE = 'http://127.0.0.1:9872';
export const SUCCESS_MS = 2000;
export const TOAST_MS = 5000;

/** By the bridge's error code. For a code that is not here its own message is shown. */
export const TOASTS = /** @type {Record<string, string>} */ ({
  invalid_json: 'Invalid request format',
  prompt_required: 'No prompt content to launch',
  prompt_too_large: 'Prompt exceeds maximum size',
  temp_file_failed: 'Failed to prepare prompt file',
  terminal_spawn_failed: 'Failed to open terminal',
  no_terminal_found: 'No compatible terminal found',
});

export const OFFLINE = 'Bridge offline - click for instructions';
export const BLOCKED = 'Blocked by your browser - click to use the launch window';
export const INVALID_ANSWER = 'The bridge sent an invalid answer';
export const NO_WINDOW =
  'Your browser did not open the launch window. Allow pop-up windows for this site, then click again';
export const WINDOW_UNSEEN =
  'The launch window should be open. If it is not, allow pop-up windows for this site and click again';
export const BROKEN_OFF = 'The connection to the bridge was lost. Check whether a terminal has opened, then try again';
export const DISMISSED = 'Your browser asked whether this site may reach this computer, and got no answer';
export const REFUSED =
  'Your browser does not let this site reach programs on this computer. Allow "Apps on device" in its settings for ' +
  'this site, or click again for the launch window';

/**
 * The tooltip of a button that can be clicked.
 * @param {string} agent
 * @param {string} reason why a click is not a plain launch
 */
export function readyTitle(agent, reason) {
  const title = `Launch in ${!agent || agent === 'claude-code' ? 'Claude CLI' : agent}`;
  if (reason === 'prompt') return `${title} (your browser will ask once)`;
  if (reason === 'insecure') return `${title} (in a window: this page is not served over https)`;
  return reason === 'untrusted' ? `${title} (a window asks you first)` : title;
}

/**
 * What to say when bridge and element do not speak the same language; empty when they do.
 * @param {string | null} version the bridge's
 */
export function mismatchOf(version) {
  if (!version || version.split('.')[0] === BRIDGE_VERSION.split('.')[0]) return '';
  return (
    `The bridge speaks version ${version}, this button ${BRIDGE_VERSION}. Ask the site for its newest button, or ` +
    'update Bascule'
  );
}
