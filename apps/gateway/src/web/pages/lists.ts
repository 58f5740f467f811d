import { html } from 'hono/html';
import { renderFormTokenField, pageNumber, pagesNav, Redirect, sitePath, renderTime, userLink } from '../page';
import type { Html, WebSitePage, WebSitePageRequest, UserSummary } from '../page';

interface ListedNoteable {
  readonly iid: number;
  readonly title: string;
  readonly state: string;
  readonly author: UserSummary | null;
  readonly created_at: string;
}
interface Todo {
  readonly id: number;
  readonly state: 'pending' | 'done';
  readonly action_name: string;
  readonly target_type: string;
  readonly target_url: string;
  readonly target: { readonly title?: string } | null;
  readonly body: string;
  readonly author: UserSummary | null;
  readonly created_at: string;
  readonly project?: { readonly path_with_namespace: string } | null;
  readonly group?: { readonly full_path?: string; readonly name?: string } | null;
}

const STATES = ['opened', 'closed', 'all'];

/** Shows the issues or merge requests of a project. */
export async function issuesOrMergeRequestsPage(
  request: WebSitePageRequest,
  place: string,
  segment: 'issues' | 'merge_requests',
): Promise<WebSitePage> {
  const state = STATES.find((one) => one === request.query.get('state')) ?? 'opened';
  const query = { state, page: pageNumber(request), per_page: 20 };
  const { data, headers } = await request.api.answer<readonly ListedNoteable[]>(
    `/projects/${encodeURIComponent(place)}/${segment}`,
    query,
  );
  const [noun, sign] = segment === 'issues' ? ['Issues', '#'] : ['Merge requests', '!'];
  return {
    title: `${noun} · ${place}`,
    content: html`<p class="crumbs"><a href="${sitePath(place)}">${place}</a></p>
      <h1>${noun}</h1>
      ${renderStateFilterLinks(request, STATES, state)}
      <ul class="list">
        ${data.map((item) => html`<li><a href="${sitePath(place, '-', segment, String(item.iid))}">${item.title}</a> <span class="state ${item.state}">${item.state}</span><br /><span class="soft">${sign}${item.iid} by ${userLink(item.author)}, ${renderTime(item.created_at)}</span></li>`)}
      </ul>
      ${data.length === 0 ? html`<p class="soft">Nothing here.</p>` : ''}${pagesNav(request, headers)}`,
  };
}

/** Shows the to-do items of the person, and marks them as done. */
export async function todosPage(request: WebSitePageRequest): Promise<WebSitePage> {
  const { form } = request;
  if (form) {
    const id = form.get('todo_id');
    await request.api.write('POST', id ? `/todos/${encodeURIComponent(id)}/mark_as_done` : '/todos/mark_as_done');
    throw new Redirect('/-/todos');
  }
  const state = request.query.get('state') === 'done' ? 'done' : 'pending';
  const query = { state, page: pageNumber(request), per_page: 20 };
  const { data, headers } = await request.api.answer<readonly Todo[]>('/todos', query);
  const all = html`<form method="post" action="/-/todos">
    ${renderFormTokenField(request)}<button>Mark all as done</button>
  </form>`;
  return {
    title: 'To-do items',
    content: html`<h1>To-do items</h1>
      ${renderStateFilterLinks(request, ['pending', 'done'], state)}${state === 'pending' && data.length > 0 ? all : ''}
      <ul class="list">
        ${data.map((todo) => renderTodo(request, todo))}
      </ul>
      ${data.length === 0 ? html`<p class="soft">Nothing to do.</p>` : ''}${pagesNav(request, headers)}`,
  };
}

function renderTodo(request: WebSitePageRequest, todo: Todo): Html {
  const where = todo.project?.path_with_namespace ?? todo.group?.full_path ?? todo.group?.name ?? '';
  const done = html`<form method="post" action="/-/todos">
    ${renderFormTokenField(request)}<input type="hidden" name="todo_id" value="${todo.id}" /><button>Done</button>
  </form>`;
  return html`<li>
    <a href="${pathAndHashOf(todo.target_url)}">${todo.target?.title ?? todo.body}</a>
    ${todo.state === 'pending' ? done : ''}<br /><span class="soft"
      >${todo.action_name.replaceAll('_', ' ')} · ${userLink(todo.author)} · ${where} ·
      ${renderTime(todo.created_at)}</span
    >
  </li>`;
}

/** Links of the API have its external address; the site may be open under another one. */
function pathAndHashOf(url: string): string {
  if (!URL.canParse(url)) return '/';
  const { pathname, hash } = new URL(url);
  return `${pathname}${hash}`;
}

function renderStateFilterLinks({ path }: WebSitePageRequest, states: readonly string[], current: string): Html {
  return html`<nav class="pages" aria-label="State">
    ${states.map((state) => (state === current ? html`<strong aria-current="page">${state}</strong>` : html`<a href="${path}?state=${state}">${state}</a>`))}
  </nav>`;
}
