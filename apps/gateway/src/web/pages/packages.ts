import { html } from 'hono/html';
import { pageNumber, pagesNav, sitePath, renderTime } from '../page';
import type { Html, WebSitePage, WebSitePageRequest } from '../page';

interface PackageAnswer {
  readonly id: number;
  readonly name: string;
  readonly version: string | null;
  readonly package_type: string;
  readonly status: string;
  readonly created_at: string;
  readonly last_downloaded_at: string | null;
}
interface PackageFile {
  readonly id: number;
  readonly file_name: string;
  readonly size: number;
  readonly file_sha256: string | null;
  readonly created_at: string;
}

/** Lists the packages of a project. */
export async function packagesPage(request: WebSitePageRequest, place: string): Promise<WebSitePage> {
  const query = { page: pageNumber(request), per_page: 20, order_by: 'created_at', sort: 'desc' };
  const api = `/projects/${encodeURIComponent(place)}/packages`;
  const { data, headers } = await request.api.answer<readonly PackageAnswer[]>(api, query);
  return {
    title: `Packages · ${place}`,
    content: html`<p class="crumbs"><a href="${sitePath(place)}">${place}</a></p>
      <h1>Packages</h1>
      <ul class="list">
        ${data.map(
          (one) =>
            html`<li>
              <a href="${sitePath(place, '-', 'packages', String(one.id))}">${one.name} ${one.version ?? ''}</a
              ><br /><span class="soft">${one.package_type}, ${renderTime(one.created_at)}</span>
            </li>`,
        )}
      </ul>
      ${data.length === 0 ? html`<p class="soft">Nothing here.</p>` : ''}${pagesNav(request, headers)}`,
  };
}

/** Shows a package with its files. */
export async function packagePage(request: WebSitePageRequest, place: string, id: string): Promise<WebSitePage> {
  const api = `/projects/${encodeURIComponent(place)}/packages/${encodeURIComponent(id)}`;
  const [shown, { data: files, headers }] = await Promise.all([
    request.api.get<PackageAnswer>(api),
    request.api.answer<readonly PackageFile[]>(`${api}/package_files`, { page: pageNumber(request), per_page: 20 }),
  ]);
  const { name, version, package_type: type, status, created_at, last_downloaded_at } = shown;
  return {
    title: `${name} ${version ?? ''} · ${place}`,
    content: html`<p class="crumbs">
        <a href="${sitePath(place)}">${place}</a> · <a href="${sitePath(place, '-', 'packages')}">Packages</a>
      </p>
      <h1>${name} ${version ?? ''}</h1>
      <p class="facts">${type}${status === 'default' ? '' : ` · ${status}`}, published ${renderTime(created_at)}</p>
      ${last_downloaded_at ? html`<p class="facts">last downloaded ${renderTime(last_downloaded_at)}</p>` : ''}
      <h2>Files</h2>
      ${files.length === 0 ? html`<p class="soft">No files.</p>` : ''}
      <ul class="list">
        ${files.map(renderPackageFile)}
      </ul>
      ${pagesNav(request, headers)}`,
  };
}

function renderPackageFile({ file_name, size, file_sha256: digest, created_at }: PackageFile): Html {
  return html`<li>
    ${file_name}
    <span class="soft">${formatSize(size)}, ${renderTime(created_at)}</span
    >${digest ? html`<br /><code>sha256 ${digest}</code>` : ''}
  </li>`;
}

/** Formats a size, such as `512 bytes`, `1.5 KiB` or `20.0 MiB`. */
function formatSize(bytes: number): string {
  if (bytes < 1024) return bytes === 1 ? '1 byte' : `${bytes} bytes`;
  const isLarge = bytes >= 1024 ** 2;
  return `${(bytes / 1024 ** (isLarge ? 2 : 1)).toFixed(1)} ${isLarge ? 'MiB' : 'KiB'}`;
}
