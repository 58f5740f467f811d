import { html } from 'hono/html';
import { renderMarkdown } from '../markdown';
import { renderFormTokenField, pageNumber, pagesNav, Redirect, sitePath, renderTime, userLink } from '../page';
import type { Html, WebSitePage, WebSitePageRequest, UserSummary } from '../page';
import { rawText } from './code';
import { showDiff } from './diffs';
import type { FileDiff } from './diffs';
import { actOnDiscussion, renderDiffThreads, showDiscussions } from './discussions';

/** Fields that issues, merge requests, epics and snippets share in the API, and some that only some of them have. */
interface NoteableAnswer {
  readonly title: string;
  readonly description: string | null;
  readonly state?: string;
  readonly author: UserSummary | null;
  readonly created_at: string;
  readonly labels?: readonly string[];
  readonly milestone?: { readonly title: string } | null;
  readonly assignees?: readonly UserSummary[];
  readonly due_date?: string | null;
  readonly confidential?: boolean;
  readonly source_branch?: string;
  readonly target_branch?: string;
  readonly detailed_merge_status?: string;
}

interface NoteablePageKind {
  readonly noun: string;
  readonly sign: string;
  readonly segment: string;
  readonly parent: 'projects' | 'groups';
}

export const ISSUES: NoteablePageKind = { noun: 'Issue', sign: '#', segment: 'issues', parent: 'projects' };
export const MERGE_REQUESTS: NoteablePageKind = {
  noun: 'Merge request',
  sign: '!',
  segment: 'merge_requests',
  parent: 'projects',
};
export const EPICS: NoteablePageKind = { noun: 'Epic', sign: '&', segment: 'epics', parent: 'groups' };
export const SNIPPETS: NoteablePageKind = { noun: 'Snippet', sign: '$', segment: 'snippets', parent: 'projects' };

/** Shows a noteable of a project or group with its discussion, and handles the forms below it. */
export async function noteablePage(
  request: WebSitePageRequest,
  kind: NoteablePageKind,
  place: string,
  number: string,
): Promise<WebSitePage> {
  const { segment, parent, noun, sign } = kind;
  const api = `/${parent}/${encodeURIComponent(place)}/${segment}/${encodeURIComponent(number)}`;
  if (request.form) {
    await submitNoteableAction(request, api, request.form);
    throw new Redirect(request.path);
  }
  const shown = await request.api.get<NoteableAnswer>(api);
  const [content, discussions] = await Promise.all([
    kind === SNIPPETS ? rawText(request, `${api}/raw`) : null,
    showDiscussions(request, api),
  ]);
  const parentPath = parent === 'groups' ? sitePath('groups', place) : sitePath(place);
  const { title, state, author, created_at, description } = shown;
  return {
    title: `${title} (${sign}${number}) · ${place}`,
    content: html`<p class="crumbs"><a href="${parentPath}">${place}</a> · ${noun} ${sign}${number}</p>
      <h1>${title}</h1>
      <p class="facts">
        ${state ? html`<span class="state ${state}">${state}</span> ` : ''}${shown.confidential ? 'confidential · ' : ''}by
        ${userLink(author)}, ${renderTime(created_at)}
      </p>
      ${renderNoteableFacts(shown)}
      ${kind === MERGE_REQUESTS ? html`<p><a href="${request.path}/diffs">Changes</a></p>` : ''}
      <div class="text">${renderMarkdown(description)}</div>
      ${content ? html`<pre><code>${content}</code></pre>` : ''} ${renderCloseOrReopenForm(request, state)}
      ${discussions}`,
  };
}

function renderNoteableFacts(shown: NoteableAnswer): Html {
  const { labels = [], milestone, assignees = [], due_date: due, source_branch: source, target_branch: target } = shown;
  const facts: (readonly [string, Html])[] = [];
  if (source) facts.push(['Branches', html`<code>${source}</code> into <code>${target}</code>`]);
  if (shown.detailed_merge_status)
    facts.push(['Merge status', html`${shown.detailed_merge_status.replaceAll('_', ' ')}`]);
  if (labels.length > 0)
    facts.push(['Labels', html`${labels.map((label) => html`<span class="label">${label}</span> `)}`]);
  if (milestone) facts.push(['Milestone', html`${milestone.title}`]);
  if (assignees.length > 0) facts.push(['Assignees', html`${assignees.map((user) => html`${userLink(user)} `)}`]);
  if (due) facts.push(['Due', html`<time datetime="${due}">${due}</time>`]);
  if (facts.length === 0) return html``;
  return html`<dl class="facts-list">
    ${facts.map(
      ([name, value]) =>
        html`<dt>${name}</dt>
          <dd>${value}</dd>`,
    )}
  </dl>`;
}

function renderCloseOrReopenForm(request: WebSitePageRequest, state: string | undefined): Html {
  if (!request.username || (state !== 'opened' && state !== 'closed')) return html``;
  const [act, words] = state === 'opened' ? ['close', 'Close'] : ['reopen', 'Reopen'];
  return html`<form method="post" action="${request.path}">
    ${renderFormTokenField(request)}<button name="act" value="${act}">${words}</button>
  </form>`;
}

async function submitNoteableAction(
  request: WebSitePageRequest,
  noteablePath: string,
  form: URLSearchParams,
): Promise<void> {
  const wanted = form.get('act');
  if (wanted === 'close' || wanted === 'reopen') await request.api.write('PUT', noteablePath, { state_event: wanted });
  else await actOnDiscussion(request, noteablePath, form);
}

/** Shows the changed files of a merge request with the threads on their lines, and handles the forms of these threads. */
export async function mergeRequestDiffsPage(
  request: WebSitePageRequest,
  place: string,
  number: string,
): Promise<WebSitePage> {
  const api = `/projects/${encodeURIComponent(place)}/merge_requests/${encodeURIComponent(number)}`;
  if (request.form) {
    await actOnDiscussion(request, api, request.form);
    throw new Redirect(request.path);
  }
  const [shown, { data, headers }, threads] = await Promise.all([
    request.api.get<NoteableAnswer>(api),
    request.api.answer<readonly FileDiff[]>(`${api}/diffs`, { page: pageNumber(request), per_page: 20 }),
    renderDiffThreads(request, api),
  ]);
  const back = sitePath(place, '-', 'merge_requests', number);
  return {
    title: `Changes of !${number} · ${place}`,
    content: html`<p class="crumbs"><a href="${sitePath(place)}">${place}</a> · <a href="${back}">!${number}</a></p>
      <h1>${shown.title}</h1>
      <h2>Changes</h2>
      ${threads.isWhole ? '' : html`<p class="notice">Not all threads are shown here. <a href="${back}">See the discussion</a>.</p>`}
      ${data.map((diff) => html`${showDiff(diff)}${threads.of(diff.new_path)}`)}${data.length === 0 ? html`<p>No changes.</p>` : ''}${pagesNav(request, headers)}`,
  };
}
