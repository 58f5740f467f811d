import { ApiRefused, ProjectMoved } from './api-calls';
import { Redirect, sitePath } from './page';
import type { WebSitePage, WebSitePageRequest } from './page';
import { blobPage, commitPage, commitsPage, treePage } from './pages/code';
import { issuesOrMergeRequestsPage, todosPage } from './pages/lists';
import { EPICS, ISSUES, MERGE_REQUESTS, mergeRequestDiffsPage, noteablePage, SNIPPETS } from './pages/noteables';
import { projectObjectPage } from './pages/objects';
import { importProgressPage } from './pages/imports';
import { notificationSettingsPage } from './pages/notifications';
import { packagePage, packagesPage } from './pages/packages';
import { groupPage, projectGroupOrUserPage, projectsPage } from './pages/places';

/**
 * Finds the page of an address. Errors: ApiRefused; Redirect, also from a former path of a project. Source: reference
 * pages 3.
 */
export function findWebSitePage(request: WebSitePageRequest, segments: readonly string[]): Promise<WebSitePage> {
  return renderPageForPath(request, segments).catch((error: unknown) =>
    redirectIfProjectMoved(request, segments, error),
  );
}

/** Errors: ApiRefused, ProjectMoved, Redirect. */
async function renderPageForPath(request: WebSitePageRequest, segments: readonly string[]): Promise<WebSitePage> {
  const dash = segments.indexOf('-');
  if (dash === 0) return renderPersonalPage(request, segments.slice(1));
  if (dash > 0) {
    const isGroup = segments[0] === 'groups';
    const place = segments.slice(isGroup ? 1 : 0, dash).join('/');
    const tail = segments.slice(dash + 1);
    return isGroup ? renderPageBelowGroup(request, place, tail) : renderPageBelowProject(request, place, tail);
  }
  if (segments.length === 0) return request.username ? todosPage(request) : projectsPage(request);
  if (segments.length === 2 && segments[0] === 'dashboard' && segments[1] === 'todos') return todosPage(request);
  return segments[0] === 'groups'
    ? groupPage(request, segments.slice(1).join('/'))
    : projectGroupOrUserPage(request, segments.join('/'));
}

function renderPersonalPage(request: WebSitePageRequest, [name = '', number]: readonly string[]): Promise<WebSitePage> {
  if (name === 'todos' && number === undefined) return todosPage(request);
  if (name === 'projects' && number === undefined) return projectsPage(request);
  if (name === 'profile' && number === 'notifications') return notificationSettingsPage(request, null);
  throw new ApiRefused(404, '404 Not Found');
}

function renderPageBelowGroup(
  request: WebSitePageRequest,
  groupPath: string,
  [kind, number]: readonly string[],
): Promise<WebSitePage> {
  if (kind === 'epics' && number !== undefined) return noteablePage(request, EPICS, groupPath, number);
  if (kind === 'notifications') return notificationSettingsPage(request, { kind: 'groups', path: groupPath });
  return groupPage(request, groupPath);
}

const NOTEABLES = { issues: ISSUES, merge_requests: MERGE_REQUESTS, snippets: SNIPPETS };

function renderPageBelowProject(
  request: WebSitePageRequest,
  projectPath: string,
  tail: readonly string[],
): Promise<WebSitePage> {
  const [kind = '', number, part] = tail;
  switch (kind) {
    case 'issues':
    case 'merge_requests':
      if (number === undefined) return issuesOrMergeRequestsPage(request, projectPath, kind);
      if (kind === 'merge_requests' && part === 'diffs') return mergeRequestDiffsPage(request, projectPath, number);
      return noteablePage(request, NOTEABLES[kind], projectPath, number);
    case 'snippets':
      return noteablePage(request, SNIPPETS, projectPath, number ?? '');
    case 'tree':
      return treePage(request, projectPath, tail.slice(1));
    case 'blob':
    case 'raw':
      return blobPage(request, projectPath, tail.slice(1));
    case 'commits':
      return commitsPage(request, projectPath, tail.slice(1));
    case 'commit':
      return commitPage(request, projectPath, number ?? '');
    case 'packages':
      return number === undefined ? packagesPage(request, projectPath) : packagePage(request, projectPath, number);
    case 'import':
      return importProgressPage(request, projectPath);
    case 'notifications':
      return notificationSettingsPage(request, { kind: 'projects', path: projectPath });
    default:
      return projectObjectPage(request, projectPath, tail);
  }
}

/** Leads from a former path of a project to the same page below its path. Errors: Redirect; else the error itself. */
async function redirectIfProjectMoved(
  request: WebSitePageRequest,
  segments: readonly string[],
  error: unknown,
): Promise<never> {
  if (!(error instanceof ProjectMoved)) throw error;
  const { api, query } = request;
  const { path_with_namespace: path } = await api.get<{ path_with_namespace: string }>(`/projects/${error.projectId}`);
  const dash = segments.indexOf('-');
  const rest = dash < 0 ? [] : segments.slice(dash);
  throw new Redirect(`${sitePath(path, ...rest)}${query.size === 0 ? '' : `?${query.toString()}`}`);
}
