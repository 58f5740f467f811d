import type { Viewer } from '@rookery/kernel';
import type { Response } from 'supertest';
import { encodeBracketParams } from '../agent';
import type { Params } from '../agent';
import type { TestApp } from '../app';

export interface PagedList {
  readonly app: TestApp;
  readonly viewer: Viewer;
  readonly path: string;
  /** Further parameters of the list. Every link must repeat them. */
  readonly query?: Params;
  /** Number of rows: 5 to 100. */
  readonly rows: number;
  /** Key of the answer for problems of parameters; default `error`. */
  readonly refusesUnder?: 'message';
  /** Identifies a row; default `id`. */
  readonly key?: (row: Record<string, unknown>) => unknown;
}

/**
 * Standard behaviour of every list with pages. `list` is called inside each test, after the spec's own set-up.
 * Source: reference identity-and-import 1.3.
 */
export function registerListPagingTests(list: () => PagedList): void {
  const ask = (page: Params = {}, method: 'get' | 'head' = 'get'): Promise<Response> => {
    const { app, viewer, path, query } = list();
    return app
      .as(viewer)
      [method](path)
      .query(encodeBracketParams({ ...query, ...page }));
  };
  const keysOf = (response: Response): unknown[] =>
    (response.body as Record<string, unknown>[]).map(list().key ?? ((row) => row['id']));

  describe('paging', () => {
    it('counts rows and pages in headers', async () => {
      const { rows } = list();
      const response = await ask({ per_page: 2 });
      expect(response.status).toBe(200);
      expect(headersOf(response, 'x-page', 'x-per-page', 'x-prev-page', 'x-next-page')).toEqual(['1', '2', '', '2']);
      expect(headersOf(response, 'x-total', 'x-total-pages')).toEqual([`${rows}`, `${Math.ceil(rows / 2)}`]);
      expect(response.body).toHaveLength(2);
    });

    it('gives every row once when the next links are followed, and full pages', async () => {
      const { app, viewer, rows } = list();
      const found: unknown[] = [];
      let response = await ask({ per_page: 2 });
      for (let page = 1; ; page++) {
        found.push(...keysOf(response));
        const next = linksOf(response)['next'];
        if (next === undefined) break;
        expect(response.body).toHaveLength(2);
        expect(page).toBeLessThan(rows);
        response = await app.as(viewer).get(pathAndQueryOf(next));
      }
      expect(response.get('x-next-page')).toBe('');
      expect(new Set(found).size).toBe(rows);
      expect(found).toHaveLength(rows);
    });

    it('names neighbours in the order prev, next, first, last, with every parameter', async () => {
      const response = await ask({ per_page: 2, page: 2 });
      const links = linksOf(response);
      expect(Object.keys(links)).toEqual(['prev', 'next', 'first', 'last']);
      for (const [rel, page] of Object.entries({ prev: '1', next: '3', first: '1' })) {
        const query = new URL(links[rel]!).searchParams;
        expect([query.get('page'), query.get('per_page')]).toEqual([page, '2']);
        for (const name of Object.keys(list().query ?? {})) expect([...query.keys()].join()).toContain(name);
      }
    });

    it('is empty past the end', async () => {
      const response = await ask({ page: 999 });
      expect([response.status, response.body, response.get('x-next-page')]).toEqual([200, [], '']);
    });

    it('has 20 rows on a page by default, and at most 100', async () => {
      expect((await ask()).get('x-per-page')).toBe('20');
      expect((await ask({ per_page: 1000 })).get('x-per-page')).toBe('100');
      expect((await ask({ page: 0 })).get('x-page')).toBe('1');
    });

    it('refuses impossible page sizes', async () => {
      const { refusesUnder: key = 'error' } = list();
      expect(await statusAndBodyOf(ask({ per_page: 0 }))).toEqual([400, { [key]: 'per_page has a value not allowed' }]);
      expect(await statusAndBodyOf(ask({ per_page: 'many' }))).toEqual([400, { [key]: 'per_page is invalid' }]);
      expect(await statusAndBodyOf(ask({ page: 'x' }))).toEqual([400, { [key]: 'page is invalid' }]);
    });

    it('answers HEAD with the headers alone', async () => {
      const [get, head] = [await ask({ per_page: 2 }), await ask({ per_page: 2 }, 'head')];
      expect([head.status, head.text]).toEqual([200, undefined]);
      for (const name of ['x-total', 'link', 'content-type', 'content-length']) {
        expect([name, head.get(name)]).toEqual([name, get.get(name)]);
      }
    });
  });
}

/** The links of an answer by rel, in their order. */
export function linksOf(response: Response): Record<string, string> {
  const header = response.get('link') ?? '';
  return Object.fromEntries([...header.matchAll(/<([^>]+)>; rel="(\w+)"/g)].map(([, url, rel]) => [rel!, url!]));
}

function pathAndQueryOf(url: string): string {
  const { pathname, search } = new URL(url);
  return `${pathname}${search}`;
}

function headersOf(response: Response, ...names: string[]): (string | undefined)[] {
  return names.map((name) => response.get(name));
}

async function statusAndBodyOf(response: Promise<Response>): Promise<[number, unknown]> {
  const { status, body } = await response;
  return [status, body];
}
