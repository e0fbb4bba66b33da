/** What can be done with a session as a whole, as a menu of its bar. */

import { resume } from '../making_room.js';
import { keyNote, menu } from '../parts.js';
import { pinChoice } from '../sidebar/rows.js';
import { muteChoice } from '../notifying.js';
import { isOver } from '../sessions.js';
import { mayAct } from '../state.js';
import { terminalChoices } from '../terminal/chat_or_screen.js';
import { desktopChoices } from '../terminal/desktop.js';
import { aboutSession } from './about.js';
import { confirmEnd } from './confirm.js';
import { FORMATS, exportSession, printSession } from './exporting.js';
import { shareSession } from './sharing.js';

/** @typedef {import('../app.js').App} App */
/** @typedef {import('../parts.js').Choice} Choice */
/** @typedef {import('../state.js').SessionRecord} SessionRecord */

/**
 * @param {App} app
 * @param {string} id
 * @returns {Choice[]}
 */
export const exportChoices = (app, id) => [
  ...FORMATS.map(([format, label, note]) => ({
    label,
    note,
    icon: 'export',
    run: () => void exportSession(app, id, format),
  })),
  ...(app.store.get().me?.role === 'owner'
    ? [
        {
          label: 'Export with secrets',
          note: 'Markdown; keys and tokens are not hidden',
          icon: 'export',
          run: () => void exportSession(app, id, 'markdown', true),
        },
      ]
    : []),
];

/**
 * @param {App} app
 * @param {HTMLElement} anchor
 * @param {string} id
 * @param {() => void} find
 */
export function openSessionMenu(app, anchor, id, find) {
  const state = app.store.get();
  const session = state.sessions[id];
  // A phone's bar has no room for the button.
  const shares = state.me?.role === 'owner' && matchMedia('(max-width: 720px)').matches;
  menu(
    anchor,
    [
      ...(shares ? [{ label: 'Share', icon: 'share', run: () => shareSession(app, anchor, id) }] : []),
      ...terminalChoices(app, state, session),
      ...desktopChoices(app, state, session),
      { label: 'Find in this conversation', key: keyNote('Ctrl F'), icon: 'search', run: find },
      'line',
      { label: 'Print', key: keyNote('Ctrl P'), icon: 'log', run: () => void printSession(app, id) },
      ...exportChoices(app, id),
      ...(mayAct(state, id) ? actChoices(app, session) : []),
    ],
    aboutSession(app, session),
  );
}

/**
 * @param {App} app
 * @param {SessionRecord} session
 * @returns {Choice[]}
 */
function actChoices(app, session) {
  const id = session.session_id;
  const archive = () =>
    void app.api
      .archive(id, { archived: !session.archived })
      .then(
        () => app.note(session.archived ? 'It is back in the list.' : 'Archived. Everything is kept.'),
        app.trouble,
      );
  return [
    'line',
    { label: 'Rename', key: keyNote('F2'), icon: 'edit', run: () => app.events.emit('rename', id) },
    pinChoice(app, id),
    ...muteChoice(app, id),
    { label: session.archived ? 'Unarchive' : 'Archive', icon: 'inbox', run: archive },
    isOver(session)
      ? { label: 'Resume', icon: 'play', run: () => resume(app, id) }
      : { label: 'End session', icon: 'stop', danger: true, run: () => confirmEnd(app, id) },
  ];
}
