import { html } from 'hono/html';
import { ApiRefused } from '../api-calls';
import { sitePath } from '../page';
import type { WebSitePage, WebSitePageRequest } from '../page';

/** API paths of a list and of one of its objects, relative to the project. */
interface ObjectPaths {
  readonly list: string;
  readonly one: (name: string) => string;
}

const createObjectApiPaths = (listPath: string): ObjectPaths => ({
  list: listPath,
  one: (name) => `${listPath}/${name}`,
});
/** Objects of projects that have a web address but no page of their own, by the first part of the address. */
const OBJECTS: ReadonlyMap<string, ObjectPaths> = new Map([
  ['pipelines', createObjectApiPaths('pipelines')],
  ['jobs', createObjectApiPaths('jobs')],
  ['releases', createObjectApiPaths('releases')],
  ['tags', createObjectApiPaths('repository/tags')],
  ['branches', createObjectApiPaths('repository/branches')],
  ['milestones', { list: 'milestones', one: (iid) => `milestones?iids[]=${iid}` }],
  ['labels', createObjectApiPaths('labels')],
  ['feature_flags', createObjectApiPaths('feature_flags')],
]);

/**
 * Names what the address belongs to, with its plain fields and its address in the API. Errors: ApiRefused with 404 for an
 * address of nothing.
 */
export async function projectObjectPage(
  request: WebSitePageRequest,
  projectPath: string,
  objectSegments: readonly string[],
): Promise<WebSitePage> {
  const [kind = '', ...rest] = objectSegments;
  const paths = OBJECTS.get(kind);
  if (!paths) throw new ApiRefused(404, '404 Not Found');
  const isList = rest.length === 0;
  const path = isList ? paths.list : paths.one(encodeURIComponent(rest.join('/')));
  const api = `/projects/${encodeURIComponent(projectPath)}/${path}`;
  const found = await request.api.get<unknown>(api);
  const objects = ([found].flat() as readonly Readonly<Record<string, unknown>>[]).slice(0, 20);
  if (found === null || (objects.length === 0 && !isList)) throw new ApiRefused(404, '404 Not Found');
  const noun = kind.replaceAll('_', ' ');
  return {
    title: `${[noun, ...rest].join(' ')} · ${projectPath}`,
    content: html`<p class="crumbs"><a href="${sitePath(projectPath)}">${projectPath}</a></p>
      <h1>${[noun, ...rest].join(' ')}</h1>
      <p>
        In the API: <a href="/api/v4${api}"><code>/api/v4${api}</code></a>
      </p>
      ${objects.length === 0 ? html`<p class="soft">Nothing here.</p>` : ''}
      ${objects.map(
        (object) =>
          html`<dl class="facts-list">
              ${listScalarFields(object).map(
                ([name, value]) =>
                  html`<dt>${name.replaceAll('_', ' ')}</dt>
                    <dd>${value}</dd>`,
              )}
            </dl>
            <hr />`,
      )}`,
  };
}

function listScalarFields(object: Readonly<Record<string, unknown>>): [string, string][] {
  return Object.entries(object).flatMap(([name, value]) =>
    ['string', 'number', 'boolean'].includes(typeof value) && value !== ''
      ? [[name, String(value)] as [string, string]]
      : [],
  );
}
