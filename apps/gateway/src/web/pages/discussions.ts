import { html } from 'hono/html';
import { ApiRefused } from '../api-calls';
import { renderMarkdown } from '../markdown';
import { renderFormTokenField, pageNumber, pagesNav, renderTime, userLink } from '../page';
import type { Html, WebSitePageRequest, UserSummary } from '../page';

interface Suggestion {
  readonly id: number;
  readonly applied: boolean;
  readonly appliable: boolean;
}
interface Note {
  readonly id: number;
  readonly body: string;
  readonly author: UserSummary | null;
  readonly system: boolean;
  readonly created_at: string;
  readonly resolvable: boolean;
  readonly resolved?: boolean;
  readonly position?: {
    readonly new_path?: string;
    readonly old_path?: string;
    readonly new_line?: number | null;
    readonly old_line?: number | null;
  };
  readonly suggestions?: readonly Suggestion[];
}
interface Discussion {
  readonly id: string;
  readonly individual_note: boolean;
  readonly notes: readonly Note[];
}

const PER_PAGE = 20;
/** Notes beyond it are shown as plain text, since finding the structure of texts takes time. Units: characters of a page. */
const MAX_RENDERED = 200_000;

/** HTML of notes by their ids. */
type NoteHtmlById = ReadonlyMap<number, Html>;

function renderNoteTexts(discussions: readonly Discussion[]): NoteHtmlById {
  let left = MAX_RENDERED;
  return new Map(
    discussions
      .flatMap(({ notes }) => notes)
      .map(({ id, body }) => {
        left -= body.length;
        return [id, left < 0 ? html`<pre>${body}</pre>` : renderMarkdown(body)];
      }),
  );
}

/** Renders a page of the discussion of a noteable, with forms for signed-in users. `noteablePath` is its API path. */
export async function showDiscussions(request: WebSitePageRequest, noteablePath: string): Promise<Html> {
  // The API shows discussions to people who are signed in only.
  if (!request.username)
    return html`<p>
      <a href="/-/sign_in?next=${encodeURIComponent(request.path)}">Sign in</a> to read the discussion and to comment.
    </p>`;
  const query = { page: pageNumber(request), per_page: PER_PAGE };
  const { data, headers } = await request.api.answer<readonly Discussion[]>(`${noteablePath}/discussions`, query);
  const texts = renderNoteTexts(data);
  return html`<section aria-labelledby="discussion">
    <h2 id="discussion">Discussion</h2>
    ${data.map((discussion) => renderDiscussion(request, texts, discussion))}${pagesNav(request, headers)}${commentForm(request)}
  </section>`;
}

/** Texts of a discussion that are too large for a page do not hide the diff. Errors: all others. */
function nullIfApiAnswerTooLarge(error: unknown): null {
  if (error instanceof ApiRefused && TOO_LARGE.has(error.status)) return null;
  throw error;
}

/** Statuses of answers that are too large: of a page's limit, and of the API. */
const TOO_LARGE = new Set([413, 502, 503]);
/** Maximum number of discussions whose threads are shown in the diff. */
const MAX_IN_DIFF = 100;

/**
 * Renders the threads on lines of a merge request, for the page of its diff. `of` returns the threads of a file by its
 * path after the change. `isWhole` is false if there are more discussions than one page of the API has.
 */
export async function renderDiffThreads(
  request: WebSitePageRequest,
  mergeRequestPath: string,
): Promise<{ readonly of: (path: string) => Html; readonly isWhole: boolean }> {
  // The API shows discussions to people who are signed in only.
  if (!request.username) return { of: () => html``, isWhole: true };
  const query = { per_page: MAX_IN_DIFF };
  const found = await request.api
    .answer<readonly Discussion[]>(`${mergeRequestPath}/discussions`, query)
    .catch(nullIfApiAnswerTooLarge);
  if (found === null) return { of: () => html``, isWhole: false };
  const { data, headers } = found;
  const threads = data.filter(({ notes: [first] }) => first?.position);
  const texts = renderNoteTexts(threads);
  return {
    of: (path) =>
      html`${threads
        .filter(({ notes: [first] }) => (first?.position?.new_path ?? first?.position?.old_path) === path)
        .map((thread) => renderDiscussion(request, texts, thread))}`,
    isWhole: !headers['x-next-page'],
  };
}

function renderDiscussion(request: WebSitePageRequest, texts: NoteHtmlById, discussion: Discussion): Html {
  const [first, ...replies] = discussion.notes;
  if (!first) return html``;
  if (first.system)
    return html`<p class="system" id="note_${first.id}">
      ${userLink(first.author)} ${texts.get(first.id)} ${renderTime(first.created_at)}
    </p>`;
  const isThread = !discussion.individual_note;
  return html`${renderNote(request, texts, first, false)}${replies.map((note) => renderNote(request, texts, note, true))}${isThread ? renderReplyOrResolveForm(request, discussion, first) : ''}`;
}

function renderNote(request: WebSitePageRequest, texts: NoteHtmlById, note: Note, isReply: boolean): Html {
  const { position } = note;
  const line = position?.new_line ?? position?.old_line;
  const place = position
    ? html` on <code>${position.new_path ?? position.old_path}${line ? `:${line}` : ''}</code>`
    : '';
  const state = note.resolvable && !isReply ? html` · ${note.resolved ? 'resolved' : 'open'}` : '';
  const suggestions = note.suggestions ?? [];
  return html`<article class="note${isReply ? ' reply' : ''}" id="note_${note.id}">
    <header>${userLink(note.author)}${place} · ${renderTime(note.created_at)}${state}</header>
    <div class="text">${texts.get(note.id)}</div>
    ${suggestions.map((one) => renderApplySuggestionForm(request, one))}
  </article>`;
}

function renderApplySuggestionForm(request: WebSitePageRequest, { id, applied, appliable }: Suggestion): Html {
  if (applied) return html`<p class="soft">The suggestion is applied.</p>`;
  if (!request.username || !appliable) return html``;
  return html`<form method="post" action="${request.path}">
    ${renderFormTokenField(request)}<input type="hidden" name="suggestion_id" value="${id}" /><button
      name="act"
      value="apply"
    >
      Apply suggestion
    </button>
  </form>`;
}

function renderReplyOrResolveForm(request: WebSitePageRequest, { id }: Discussion, first: Note): Html {
  if (!request.username) return html``;
  const next = first.resolved ? 'unresolve' : 'resolve';
  return html`<details>
    <summary>Reply${first.resolvable ? ' or resolve' : ''}</summary>
    <form method="post" action="${request.path}">
      ${renderFormTokenField(request)}<input type="hidden" name="discussion_id" value="${id}" />
      <p>
        <label>Reply<textarea name="body"></textarea></label>
      </p>
      <button class="main" name="act" value="reply">Reply</button
      >${first.resolvable ? html` <button name="act" value="${next}">${first.resolved ? 'Reopen thread' : 'Resolve thread'}</button>` : ''}
    </form>
  </details>`;
}

function commentForm(request: WebSitePageRequest): Html {
  return html`<form method="post" action="${request.path}">
    ${renderFormTokenField(request)}
    <p>
      <label>Comment, in Markdown<textarea name="body" required></textarea></label>
    </p>
    <button class="main" name="act" value="comment">Comment</button>
  </form>`;
}

/** Handles a form of a discussion. Returns false for another form. Errors: ApiRefused. */
export async function actOnDiscussion(
  { api: calls }: WebSitePageRequest,
  noteablePath: string,
  form: URLSearchParams,
): Promise<boolean> {
  const body = form.get('body') ?? '';
  const thread = `${noteablePath}/discussions/${encodeURIComponent(form.get('discussion_id') ?? '')}`;
  switch (form.get('act')) {
    case 'comment':
      await calls.write('POST', `${noteablePath}/notes`, { body });
      return true;
    case 'reply':
      await calls.write('POST', `${thread}/notes`, { body });
      return true;
    case 'resolve':
    case 'unresolve':
      await calls.write('PUT', thread, { resolved: form.get('act') === 'resolve' });
      return true;
    case 'apply':
      await calls.write('PUT', `/suggestions/${encodeURIComponent(form.get('suggestion_id') ?? '')}/apply`);
      return true;
    default:
      return false;
  }
}
