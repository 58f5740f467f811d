import { html } from 'hono/html';
import { ApiRefused } from '../api-calls';
import { sitePath } from '../page';
import type { Page, PageRequest } from '../page';

/** API paths below a project of objects that have a web address but no page of their own. */
const OBJECTS: Readonly<Record<string, (name: string) => string>> = {
  pipelines: (id) => `pipelines/${id}`,
  jobs: (id) => `jobs/${id}`,
  packages: (id) => `packages/${id}`,
  releases: (tag) => `releases/${tag}`,
  tags: (tag) => `repository/tags/${tag}`,
  branches: (name) => `repository/branches/${name}`,
  milestones: (iid) => `milestones?iids[]=${iid}`,
  labels: (id) => `labels/${id}`,
  feature_flags: (name) => `feature_flags/${name}`,
};
/** Lists below a project. */
const LISTS = new Set(['pipelines', 'packages', 'releases', 'milestones', 'labels', 'tags', 'branches']);

/**
 * Names what the address belongs to, with its plain fields and its address in the API. Errors: ApiRefused with 404 for an
 * address of nothing.
 */
export async function objectPage(request: PageRequest, place: string, tail: readonly string[]): Promise<Page> {
  const [kind = '', ...rest] = tail;
  const project = `/projects/${encodeURIComponent(place)}`;
  const isList = rest.length === 0 && LISTS.has(kind);
  const pathOf = Object.hasOwn(OBJECTS, kind) ? OBJECTS[kind] : undefined;
  if (!isList && (!pathOf || rest.length === 0)) throw new ApiRefused(404, '404 Not Found');
  const below = isList ? (pathOf?.('').replace(/[/?].*$/, '') ?? kind) : pathOf!(encodeURIComponent(rest.join('/')));
  const api = `${project}/${isList && (kind === 'tags' || kind === 'branches') ? `repository/${kind}` : below}`;
  const found = await request.api.get<unknown>(api);
  const objects = ([found].flat() as readonly Readonly<Record<string, unknown>>[]).slice(0, 20);
  if (found === null || (objects.length === 0 && !isList)) throw new ApiRefused(404, '404 Not Found');
  const noun = kind.replaceAll('_', ' ');
  return {
    title: `${[noun, ...rest].join(' ')} · ${place}`,
    content: html`<p class="crumbs"><a href="${sitePath(place)}">${place}</a></p>
      <h1>${[noun, ...rest].join(' ')}</h1>
      <p>
        In the API: <a href="/api/v4${api}"><code>/api/v4${api}</code></a>
      </p>
      ${objects.length === 0 ? html`<p class="soft">Nothing here.</p>` : ''}
      ${objects.map(
        (object) =>
          html`<dl class="facts-list">
              ${plainFields(object).map(
                ([name, value]) =>
                  html`<dt>${name.replaceAll('_', ' ')}</dt>
                    <dd>${value}</dd>`,
              )}
            </dl>
            <hr />`,
      )}`,
  };
}

function plainFields(object: Readonly<Record<string, unknown>>): [string, string][] {
  return Object.entries(object).flatMap(([name, value]) =>
    ['string', 'number', 'boolean'].includes(typeof value) && value !== ''
      ? [[name, String(value)] as [string, string]]
      : [],
  );
}
