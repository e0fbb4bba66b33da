/** What a person does with a session's changes: stage or revert a file, commit, open a pull request. */

import { newKey } from '../../js/api.js';
import { h } from '../../js/dom.js';
import { count } from '../../js/format.js';
import { icon } from '../../js/icons.js';
import { visible } from '../../js/visible.js';
import { askCard } from '../ask_card.js';
import { mayStart } from '../state.js';
import { draftOf, keepDraft } from '../storage.js';

/** @typedef {import('../app.js').App} App */
/** @typedef {import('../../js/turns.js').FileRow} FileRow */

const MAIN = ['main', 'master', 'trunk'];

/**
 * Whether this person may change the repository: a session's own token, and a guest, may not.
 * @param {App} app
 */
export const mayCommit = (app) => mayStart(app.store.get());

/** @param {string} path */
const nameIn = (path) => visible(path.split('/').pop() ?? path);

/**
 * @param {App} app
 * @param {string} id
 * @param {FileRow} file
 * @param {() => void} done
 */
export function stageFile(app, id, file, done) {
  app.api
    .stage(id, { paths: [file.path], staged: !file.staged })
    .then(done)
    .catch(app.trouble);
}

/**
 * Asked about first; what was there is kept, so that it can be taken back.
 * @param {App} app
 * @param {HTMLElement} anchor
 * @param {string} id
 * @param {FileRow} file
 * @param {() => void} done
 */
export function revertFile(app, anchor, id, file, done) {
  const name = nameIn(file.path);
  const goes = file.status === 'untracked' || file.status === 'added';
  const undo = (/** @type {string} */ kept) => () =>
    void app.api.revert(id, { path: file.path, kept }).then(done).catch(app.trouble);
  const run = async () => {
    try {
      const { kept } = await app.api.revert(id, { path: file.path, key: newKey() });
      const action = kept ? { label: 'Undo', run: undo(kept) } : undefined;
      app.note(goes ? `${name} was deleted.` : `${name} is as it was committed.`, { action });
      done();
    } catch (error) {
      app.trouble(error);
    }
  };
  askCard(anchor, {
    title: goes ? `Delete ${name}?` : `Revert ${name}?`,
    text: goes ? 'It is new, so nothing of it is in the last commit.' : 'It becomes what it was in the last commit.',
    yes: goes ? 'Delete' : 'Revert',
    danger: true,
    run: () => void run(),
  });
}

/**
 * The row below the changes.
 * @param {App} app
 * @param {string} id
 * @param {(FileRow & {inView: boolean})[]} files those that git sees
 * @param {() => void} done
 */
export const gitRow = (app, id, files, done) =>
  h(
    'div',
    { class: 'panel__git', 'data-key': 'git' },
    h(
      'button',
      {
        type: 'button',
        class: 'button is-small line',
        disabled: !files.some((file) => file.inView),
        onclick: (/** @type {On} */ event) => askCommit(app, event.currentTarget, id, files, done),
      },
      icon('check', 14),
      'Commit…',
    ),
    h(
      'button',
      {
        type: 'button',
        class: 'button is-small line',
        onclick: (/** @type {On} */ event) => void askPullRequest(app, event.currentTarget, id),
      },
      icon('branch', 14),
      'Pull request…',
    ),
  );

/**
 * Of the files in view those that are staged, or all where none is. An index that holds nothing else is committed
 * as it is, also where only a part of a file was staged in a terminal.
 * @param {App} app
 * @param {HTMLElement} anchor
 * @param {string} id
 * @param {(FileRow & {inView: boolean})[]} files
 * @param {() => void} done
 */
function askCommit(app, anchor, id, files, done) {
  const inView = files.filter((file) => file.inView);
  const staged = inView.filter((file) => file.staged);
  const whole = staged.length === files.filter((file) => file.staged).length;
  const draft = `commit ${id}`;
  const message = field('textarea', 'Message', draftOf(draft), (text) => keepDraft(draft, text));
  const run = async () => {
    const chosen = staged.length ? staged : inView;
    const paths = staged.length && whole ? [] : chosen.map((file) => file.path);
    try {
      const made = await app.api.commit(id, { message: message.value, paths, key: newKey() });
      keepDraft(draft, '');
      const hooks = made.skipped?.length ? ` Its hooks (${made.skipped.join(', ')}) were not run.` : '';
      const where = made.branch ? ` on ${visible(made.branch)}` : '';
      app.note(`Committed ${count(made.files, 'file')}${where}: ${made.commit.slice(0, 9)}.${hooks}`);
      done();
    } catch (error) {
      app.trouble(error);
    }
  };
  askCard(anchor, {
    title: staged.length ? `Commit ${count(staged.length, 'staged file')}` : `Commit ${count(inView.length, 'file')}`,
    text: 'In your name. The repository’s hooks are not run, and the commit is not signed.',
    body: message,
    yes: 'Commit',
    run: () => void run(),
  });
  message.focus();
}

/**
 * @param {App} app
 * @param {HTMLElement} anchor
 * @param {string} id
 */
async function askPullRequest(app, anchor, id) {
  let plan;
  try {
    plan = await app.api.pullRequestPlan(id);
  } catch (error) {
    return app.trouble(error);
  }
  if (plan.problem) return app.note(visible(plan.problem), { tone: 'bad', stay: true });
  const { repository } = plan;
  const { branch, title, body, draft, forget } = pullRequestFields(id, plan);
  const run = async () => {
    const asked = { repository, branch: branch.value.trim(), title: title.value.trim() };
    try {
      const more = { body: body.value, draft: draft.checked, key: newKey() };
      const { url } = await app.api.pullRequest(id, { ...asked, ...more });
      forget();
      const open = () => app.openLink(url, { x: innerWidth / 2, y: innerHeight / 2 });
      app.note(`Opened ${url}`, { action: { label: 'Open', run: open } });
    } catch (error) {
      app.trouble(error);
    }
  };
  return askCard(anchor, {
    title: plan.tool === 'glab' ? 'Open a merge request' : 'Open a pull request',
    text: `Your last commit is pushed to ${visible(repository)} with your own ${plan.tool}.`,
    body: h('div', { class: 'ask-card__fields' }, branch, title, body, h('label', null, draft, ' As a draft')),
    yes: 'Push and open',
    run: () => void run(),
  });
}

/**
 * What is typed for a pull request is kept until it is opened.
 * @param {string} id
 * @param {import('../../js/types.d.ts').PullRequestPlan} plan
 */
function pullRequestFields(id, plan) {
  const name = `pull ${id}`;
  const names = { branch: `${name} branch`, title: `${name} title`, body: name, draft: `${name} draft` };
  const keeps = (/** @type {string} */ part) => (/** @type {string} */ text) => keepDraft(part, text);
  const branch = draftOf(names.branch) || branchFor(plan.branch ?? '', plan.title);
  const onchange = (/** @type {On<HTMLInputElement>} */ event) =>
    keepDraft(names.draft, event.currentTarget.checked ? 'on' : '');
  const draft = h('input', { type: 'checkbox', checked: Boolean(draftOf(names.draft)), onchange });
  return {
    branch: field('input', 'Branch', branch, keeps(names.branch)),
    title: field('input', 'Title', draftOf(names.title) || plan.title, keeps(names.title)),
    body: field('textarea', 'Description', draftOf(names.body), keeps(names.body)),
    draft: /** @type {HTMLInputElement} */ (draft),
    forget: () => Object.values(names).forEach((part) => keepDraft(part, '')),
  };
}

/**
 * A branch of its own, unless one is checked out.
 * @param {string} now
 * @param {string} title
 */
export function branchFor(now, title) {
  if (now && !MAIN.includes(now)) return now;
  const words = title.toLowerCase().match(/[a-z0-9]+/g) ?? ['changes'];
  return words.slice(0, 6).join('-');
}

/**
 * @param {'input' | 'textarea'} kind
 * @param {string} label
 * @param {string} value
 * @param {(text: string) => void} [kept]
 */
function field(kind, label, value, kept) {
  const rows = kind === 'textarea' ? 4 : null;
  const oninput = (/** @type {On<HTMLInputElement>} */ event) => kept?.(event.currentTarget.value);
  const props = { class: 'input', 'aria-label': label, placeholder: label, rows, value, oninput };
  return /** @type {HTMLInputElement} */ (h(kind, props));
}
