import { html } from 'hono/html';
import { ApiRefused } from '../api-calls';
import { renderMarkdown } from '../markdown';
import { pageNumber, pagesNav, sitePath, renderTime, userLink } from '../page';
import type { Html, WebSitePage, WebSitePageRequest, UserSummary } from '../page';
import { isImporting } from './imports';
import { isMarkdown, renderFileList, rawText } from './code';
import type { TreeEntry } from './code';

interface Project {
  readonly id: number;
  readonly path_with_namespace: string;
  readonly name: string;
  readonly description: string | null;
  readonly visibility?: string;
  readonly default_branch?: string | null;
  readonly last_activity_at?: string;
  readonly import_status?: string;
}
interface Group {
  readonly full_path: string;
  readonly full_name: string;
  readonly description: string;
}
interface ActivityEvent {
  readonly action_name: string;
  readonly target_type: string | null;
  readonly target_title: string | null;
  readonly author: UserSummary | null;
  readonly created_at: string;
  readonly push_data?: {
    readonly commit_count: number;
    readonly ref: string | null;
    readonly commit_title: string | null;
  };
}

/** Shows a project, a group or a user: what the path belongs to. Errors: ApiRefused with 404. */
export async function projectGroupOrUserPage(request: WebSitePageRequest, fullPath: string): Promise<WebSitePage> {
  const project = await request.api.find<Project>(`/projects/${encodeURIComponent(fullPath)}`);
  if (project) return projectPage(request, project);
  const group = await request.api.find<Group>(`/groups/${encodeURIComponent(fullPath)}`, { with_projects: 'false' });
  if (group) return renderGroupPage(request, group);
  return userPage(request, fullPath);
}

export async function groupPage(request: WebSitePageRequest, place: string): Promise<WebSitePage> {
  return renderGroupPage(
    request,
    await request.api.get<Group>(`/groups/${encodeURIComponent(place)}`, { with_projects: 'false' }),
  );
}

async function projectPage(request: WebSitePageRequest, project: Project): Promise<WebSitePage> {
  const { id, path_with_namespace: place, default_branch: branch } = project;
  const [files, events] = await Promise.all([
    branch ? request.api.find<readonly TreeEntry[]>(`/projects/${id}/repository/tree`, { per_page: 100 }) : null,
    request.api.find<readonly ActivityEvent[]>(`/projects/${id}/events`, { per_page: 10 }),
  ]);
  const readme = files?.find(({ type, name }) => type === 'blob' && /^readme(\.\w+)?$/i.test(name));
  return {
    title: place,
    content: html`<p class="crumbs">${renderBreadcrumbs(place)}</p>
      <h1>${project.name}</h1>
      <div class="text">${renderMarkdown(project.description)}</div>
      <p>
        <a href="${sitePath(place, '-', 'issues')}">Issues</a> ·
        <a href="${sitePath(place, '-', 'merge_requests')}">Merge requests</a
        >${branch ? html` · <a href="${sitePath(place, '-', 'commits', branch)}">Commits</a>` : ''} ·
        <a href="${sitePath(place, '-', 'packages')}">Packages</a
        >${request.username ? html` · <a href="${sitePath(place, '-', 'notifications')}">Notifications</a>` : ''}
      </p>
      ${
        isImporting(project.import_status)
          ? html`<p class="notice" role="status">
              This project is being imported. <a href="${sitePath(place, '-', 'import')}">See how far it is</a>
            </p>`
          : ''
      }
      ${
        files && branch
          ? html`<h2>Files</h2>
              ${renderFileList(place, branch, '', files)}`
          : ''
      }
      ${readme && branch ? await renderReadme(request, id, branch, readme) : ''} ${renderActivity(events)}`,
  };
}

async function renderReadme(
  request: WebSitePageRequest,
  id: number,
  branch: string,
  { path }: TreeEntry,
): Promise<Html> {
  const ref = encodeURIComponent(branch);
  const text = await rawText(request, `/projects/${id}/repository/files/${encodeURIComponent(path)}/raw?ref=${ref}`);
  if (text === null) return html``;
  return html`<h2>${path}</h2>
    <div class="text">${isMarkdown(path) ? renderMarkdown(text) : html`<pre>${text}</pre>`}</div>`;
}

async function renderGroupPage(
  request: WebSitePageRequest,
  { full_path: place, full_name, description }: Group,
): Promise<WebSitePage> {
  const api = `/groups/${encodeURIComponent(place)}`;
  const [groups, { data: projects, headers }] = await Promise.all([
    request.api.get<readonly Group[]>(`${api}/subgroups`, { per_page: 100 }),
    request.api.answer<readonly Project[]>(`${api}/projects`, {
      per_page: 20,
      page: pageNumber(request),
      simple: 'true',
    }),
  ]);
  return {
    title: place,
    content: html`<p class="crumbs">${renderBreadcrumbs(place)}</p>
      <h1>${full_name}</h1>
      <div class="text">${renderMarkdown(description)}</div>
      ${request.username ? html`<p><a href="${sitePath('groups', place, '-', 'notifications')}">Notifications</a></p>` : ''}
      ${
        groups.length > 0
          ? html`<h2>Groups</h2>
              <ul class="list">
                ${groups.map((one) => html`<li><a href="${sitePath(one.full_path)}">${one.full_name}</a></li>`)}
              </ul>`
          : ''
      }
      <h2>Projects</h2>
      ${renderProjectList(projects)}${pagesNav(request, headers)}`,
  };
}

async function userPage(request: WebSitePageRequest, username: string): Promise<WebSitePage> {
  const [user] = (await request.api.find<readonly (UserSummary & { id: number })[]>('/users', { username })) ?? [];
  if (!user) throw new ApiRefused(404, '404 Not Found');
  const events = await request.api.find<readonly ActivityEvent[]>(`/users/${user.id}/events`, {
    per_page: 20,
    page: pageNumber(request),
  });
  return {
    title: user.name,
    content: html`<h1>${user.name}</h1>
      <p class="facts">@${user.username}</p>
      ${renderActivity(events)}`,
  };
}

/** Shows the projects that the visitor sees. */
export async function projectsPage(request: WebSitePageRequest): Promise<WebSitePage> {
  const query = {
    page: pageNumber(request),
    per_page: 20,
    order_by: 'last_activity_at',
    simple: 'true',
    search: request.query.get('search') ?? undefined,
  };
  const { data, headers } = await request.api.answer<readonly Project[]>('/projects', query);
  return {
    title: 'Projects',
    content: html`<h1>Projects</h1>
      <form method="get" action="${request.path}">
        <p>
          <label>Search<input type="text" name="search" value="${request.query.get('search') ?? ''}" /></label>
        </p>
        <button>Search</button>
      </form>
      ${renderProjectList(data)}${pagesNav(request, headers)}`,
  };
}

function renderProjectList(projects: readonly Project[]): Html {
  if (projects.length === 0) return html`<p class="soft">No projects.</p>`;
  return html`<ul class="list">
    ${projects.map(({ path_with_namespace: place, description }) => html`<li><a href="${sitePath(place)}">${place}</a>${description ? html`<br /><span class="soft">${description}</span>` : ''}</li>`)}
  </ul>`;
}

function renderActivity(events: readonly ActivityEvent[] | null): Html {
  if (!events || events.length === 0) return html``;
  return html`<h2>Activity</h2>
    <ul class="list">
      ${events.map((event) => html`<li>${userLink(event.author)} ${event.action_name} ${renderEventTarget(event)} <span class="soft">${renderTime(event.created_at)}</span></li>`)}
    </ul>`;
}

function renderEventTarget({ target_type: type, target_title: title, push_data: push }: ActivityEvent): Html {
  if (push) return html`${push.ref ?? ''}${push.commit_title ? html`: ${push.commit_title}` : ''}`;
  return html`${(type ?? '').replaceAll(/(?<=[a-z])(?=[A-Z])/g, ' ').toLowerCase()} ${title ?? ''}`;
}

/** Links to each group above. */
function renderBreadcrumbs(place: string): Html {
  const parts = place.split('/');
  return html`${parts.map((part, at) => html`${at > 0 ? ' / ' : ''}<a href="${sitePath(...parts.slice(0, at + 1))}">${part}</a>`)}`;
}
