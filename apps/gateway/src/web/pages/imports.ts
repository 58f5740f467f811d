import { html } from 'hono/html';
import { sitePath, renderTime } from '../page';
import type { Html, WebSitePage, WebSitePageRequest } from '../page';

interface ProjectImport {
  readonly import_status: string;
  readonly import_type: string | null;
  readonly import_error: string | null;
  readonly failed_relations?: readonly FailedRelation[];
  readonly stats?: {
    readonly fetched?: Readonly<Record<string, number>>;
    readonly imported?: Readonly<Record<string, number>>;
  } | null;
}
interface FailedRelation {
  readonly relation_name: string;
  readonly exception_message: string;
  readonly created_at: string;
}

const RUNNING = ['scheduled', 'started'];
/** Failed relations that are shown; the API has them all. */
const MAX_FAILURES = 50;
/** Units: seconds. */
const REFRESH = 5;

/** Whether a project is being imported now. */
export function isImporting(status: string | undefined): boolean {
  return status !== undefined && RUNNING.includes(status);
}

/** Shows how far the import of a project is. The page loads itself again until the import has ended. */
export async function importProgressPage(request: WebSitePageRequest, place: string): Promise<WebSitePage> {
  const found = await request.api.get<ProjectImport>(`/projects/${encodeURIComponent(place)}/import`);
  const { import_status: status, import_type: type, import_error: problem, failed_relations: failed = [] } = found;
  return {
    title: `Import · ${place}`,
    ...(isImporting(status) ? { refreshAfter: REFRESH } : {}),
    content: html`<p class="crumbs"><a href="${sitePath(place)}">${place}</a></p>
      <h1>Import</h1>
      <p role="status"><span class="state">${status}</span> ${type ? html`from ${type.replaceAll('_', ' ')}` : ''}</p>
      ${problem ? html`<p class="problem">${problem}</p>` : ''} ${renderCounts(found)} ${renderImportFailures(failed)}`,
  };
}

function renderCounts({ stats }: ProjectImport): Html {
  const { fetched = {}, imported = {} } = stats ?? {};
  const kinds = Object.keys(fetched);
  if (kinds.length === 0) return html``;
  return html`<table class="counts">
    <thead>
      <tr>
        <th scope="col">Kind</th>
        <th scope="col">Fetched</th>
        <th scope="col">Imported</th>
      </tr>
    </thead>
    <tbody>
      ${kinds.map(
        (kind) =>
          html`<tr>
            <th scope="row">${kind.replaceAll('_', ' ')}</th>
            <td>${fetched[kind]}</td>
            <td>${imported[kind] ?? 0}</td>
          </tr>`,
      )}
    </tbody>
  </table>`;
}

function renderImportFailures(failed: readonly FailedRelation[]): Html {
  if (failed.length === 0) return html``;
  return html`<h2>Not imported</h2>
    <ul class="list">
      ${failed.slice(0, MAX_FAILURES).map((one) => html`<li>${one.relation_name.replaceAll('_', ' ')}: ${one.exception_message} <span class="soft">${renderTime(one.created_at)}</span></li>`)}
    </ul>`;
}
