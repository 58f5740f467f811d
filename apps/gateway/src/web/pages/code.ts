import { html } from 'hono/html';
import { ApiRefused } from '../api-calls';
import { renderMarkdown } from '../markdown';
import { pageNumber, pagesNav, sitePath, renderTime } from '../page';
import type { Html, WebSitePage, WebSitePageRequest } from '../page';
import { showDiff } from './diffs';
import type { FileDiff } from './diffs';

export interface TreeEntry {
  readonly name: string;
  readonly path: string;
  readonly type: 'tree' | 'blob' | 'commit';
}
interface Commit {
  readonly id: string;
  readonly short_id: string;
  readonly title: string;
  readonly message: string;
  readonly author_name: string;
  readonly authored_date: string;
}

/** Larger files are not shown. Units: bytes. */
const MAX_SHOWN = 512 * 1024;
/** Names of branches have slashes: this many parts of a path are tried. */
const MAX_REF_PARTS = 6;

export function isMarkdown(path: string): boolean {
  return /\.(md|markdown)$/i.test(path);
}

export function renderFileList(projectPath: string, ref: string, folder: string, entries: readonly TreeEntry[]): Html {
  const above = folder.includes('/') ? folder.slice(0, folder.lastIndexOf('/')) : '';
  const linkTo = ({ type, path }: Pick<TreeEntry, 'type' | 'path'>): string =>
    sitePath(projectPath, '-', type === 'tree' ? 'tree' : 'blob', ref, ...(path === '' ? [] : [path]));
  return html`<table class="files">
    <tbody>
      ${
        folder
          ? html`<tr>
              <td><a href="${linkTo({ type: 'tree', path: above })}">..</a></td>
            </tr>`
          : ''
      }${entries.map(
        (entry) =>
          html`<tr>
            <td>
              ${entry.type === 'commit' ? entry.name : html`<a href="${linkTo(entry)}">${entry.name}${entry.type === 'tree' ? '/' : ''}</a>`}
            </td>
          </tr>`,
      )}
    </tbody>
  </table>`;
}

/** Splits `feature/x/src/a.ts` into a ref that exists and a path. Errors: ApiRefused with 404 without one. */
async function splitRefAndPath({ api }: WebSitePageRequest, project: string, refAndPath: readonly string[]) {
  for (let parts = 1; parts <= Math.min(refAndPath.length, MAX_REF_PARTS); parts += 1) {
    const ref = refAndPath.slice(0, parts).join('/');
    const commit = await api.find<Commit>(`/projects/${project}/repository/commits/${encodeURIComponent(ref)}`);
    if (commit) return { ref, path: refAndPath.slice(parts).join('/') };
  }
  throw new ApiRefused(404, '404 Not Found');
}

export async function treePage(
  request: WebSitePageRequest,
  projectPath: string,
  refAndPath: readonly string[],
): Promise<WebSitePage> {
  const project = encodeURIComponent(projectPath);
  const { ref, path } = await splitRefAndPath(request, project, refAndPath);
  const query = { ref, path, per_page: 100, page: pageNumber(request) };
  const { data, headers } = await request.api.answer<readonly TreeEntry[]>(
    `/projects/${project}/repository/tree`,
    query,
  );
  return {
    title: `${path || ref} · ${projectPath}`,
    content: html`${renderCodePageHeading(projectPath, ref, path)}${renderFileList(projectPath, ref, path, data)}${pagesNav(request, headers)}`,
  };
}

/** Reads a text file; null if it is larger than what is shown. */
export async function rawText({ api }: WebSitePageRequest, path: string): Promise<string | null> {
  try {
    const { status, text } = await api.send<unknown>('GET', path, { maxBytes: MAX_SHOWN });
    return status === 200 ? text : null;
  } catch (error) {
    if (error instanceof ApiRefused && error.status === 413) return null;
    throw error;
  }
}

export async function blobPage(
  request: WebSitePageRequest,
  projectPath: string,
  refAndPath: readonly string[],
): Promise<WebSitePage> {
  const project = encodeURIComponent(projectPath);
  const { ref, path } = await splitRefAndPath(request, project, refAndPath);
  const file = `/projects/${project}/repository/files/${encodeURIComponent(path)}`;
  const query = `ref=${encodeURIComponent(ref)}`;
  const head = await request.api.head(`${file}?${query}`);
  const size = Number(head.headers['x-gitlab-size']);
  const text = size <= MAX_SHOWN ? await rawText(request, `${file}/raw?${query}`) : null;
  const raw = `/api/v4${file}/raw?${query}`;
  const isText = text !== null && !text.includes('\0');
  return {
    title: `${path} · ${projectPath}`,
    content: html`${renderCodePageHeading(projectPath, ref, path)}
      <p class="facts">${size} bytes · <a href="${raw}">in the API</a></p>
      ${isText ? (isMarkdown(path) ? html`<div class="text">${renderMarkdown(text)}</div>` : html`<pre tabindex="0"><code>${text}</code></pre>`) : html`<p>This file is not shown here: it is binary or too large.</p>`}`,
  };
}

export async function commitsPage(
  request: WebSitePageRequest,
  projectPath: string,
  refAndPath: readonly string[],
): Promise<WebSitePage> {
  const project = encodeURIComponent(projectPath);
  const { ref, path } = await splitRefAndPath(request, project, refAndPath);
  const query = { ref_name: ref, path: path || undefined, page: pageNumber(request) };
  const { data, headers } = await request.api.answer<readonly Commit[]>(
    `/projects/${project}/repository/commits`,
    query,
  );
  return {
    title: `Commits of ${ref} · ${projectPath}`,
    content: html`${renderCodePageHeading(projectPath, ref, path)}
      <ul class="list">
        ${data.map(
          (commit) =>
            html`<li>
              <a href="${sitePath(projectPath, '-', 'commit', commit.id)}">${commit.title || commit.short_id}</a
              ><br /><span class="soft"
                >${commit.author_name}, ${renderTime(commit.authored_date)} · <code>${commit.short_id}</code></span
              >
            </li>`,
        )}
      </ul>
      ${pagesNav(request, headers)}`,
  };
}

export async function commitPage(request: WebSitePageRequest, projectPath: string, sha: string): Promise<WebSitePage> {
  const api = `/projects/${encodeURIComponent(projectPath)}/repository/commits/${encodeURIComponent(sha)}`;
  const [commit, { data, headers }] = await Promise.all([
    request.api.get<Commit>(api),
    request.api.answer<readonly FileDiff[]>(`${api}/diff`, { per_page: 20, page: pageNumber(request) }),
  ]);
  return {
    title: `${commit.title} · ${projectPath}`,
    content: html`<p class="crumbs">
        <a href="${sitePath(projectPath)}">${projectPath}</a> · Commit <code>${commit.short_id}</code>
      </p>
      <h1>${commit.title}</h1>
      <p class="facts">${commit.author_name}, ${renderTime(commit.authored_date)}</p>
      <pre>${commit.message}</pre>
      ${data.map(showDiff)}${pagesNav(request, headers)}`,
  };
}

function renderCodePageHeading(place: string, ref: string, path: string): Html {
  return html`<p class="crumbs">
      <a href="${sitePath(place)}">${place}</a> · <a href="${sitePath(place, '-', 'tree', ref)}">${ref}</a>
    </p>
    <h1>${path || ref}</h1>`;
}
