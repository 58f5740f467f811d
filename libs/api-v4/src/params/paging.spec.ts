import { keysetPage, readCursor, writeCursor } from '../answers/keyset';
import { keysetHeaders, pageHeaders, readKeyset, readPage, refuseDeepOffset } from './paging';

const source = {
  url: 'http://host/api/v4/projects/1/issues',
  path: { id: 'a/b' },
  query: { labels: ['x y', 'z'], per_page: '2', page: '2', private_token: 'glpat-secret' },
  params: { sort: 'desc', labels: ['x y', 'z'] },
};
const toHeaderRecord = (flat: readonly string[]): Record<string, string> =>
  Object.fromEntries(flat.flatMap((name, index) => (index % 2 === 0 ? [[name, flat[index + 1]!]] : [])));

it('links the neighbour pages in order, with every parameter, sorted, and without credentials', () => {
  const made = toHeaderRecord(pageHeaders({ page: 2, perPage: 2 }, { total: 5, hasNext: true }, source));
  const link = (page: number, rel: string): string =>
    `<${source.url}?id=a%2Fb&labels%5B%5D=x%20y&labels%5B%5D=z&page=${page}&per_page=2&sort=desc>; rel="${rel}"`;
  expect(made['link']).toBe([link(1, 'prev'), link(3, 'next'), link(1, 'first'), link(3, 'last')].join(', '));
  expect(made).toMatchObject({
    'x-page': '2',
    'x-per-page': '2',
    'x-prev-page': '1',
    'x-next-page': '3',
    'x-total': '5',
    'x-total-pages': '3',
  });
});

it('has empty texts for missing neighbour pages, and at least one page', () => {
  const made = toHeaderRecord(pageHeaders({ page: 1, perPage: 20 }, { total: 0, hasNext: false }, source));
  expect([made['x-prev-page'], made['x-next-page'], made['x-total-pages']]).toEqual(['', '', '1']);
  expect([...made['link']!.matchAll(/rel="(\w+)"/g)].map((match) => match[1])).toEqual(['first', 'last']);
});

it.each([
  [2_000, 'prev next first last'],
  [4_000, 'next'],
  [13_000, ''],
])('stays within the headers that clients read, with a query of %i bytes', (length, rels) => {
  const long = { ...source, query: { search: 'x'.repeat(length) } };
  const made = toHeaderRecord(pageHeaders({ page: 2, perPage: 2 }, { total: 5, hasNext: true }, long));
  expect([...(made['link'] ?? '').matchAll(/rel="(\w+)"/g)].map((match) => match[1]).join(' ')).toBe(rels);
  expect(made['x-next-page']).toBe('3');
});

it('has no total past ten thousand rows', () => {
  const made = toHeaderRecord(pageHeaders({ page: 3, perPage: 20 }, { total: null, hasNext: true }, source));
  expect(made).not.toHaveProperty('x-total');
  expect(made).not.toHaveProperty('x-total-pages');
  expect([...made['link']!.matchAll(/rel="(\w+)"/g)].map((match) => match[1])).toEqual(['prev', 'next', 'first']);
});

it.each([
  [{}, { page: 1, perPage: 20 }],
  [
    { page: '3', per_page: '5' },
    { page: 3, perPage: 5 },
  ],
  [
    { page: 0, per_page: 1000 },
    { page: 1, perPage: 100 },
  ],
  [
    { page: '', per_page: null },
    { page: 1, perPage: 20 },
  ],
])('reads %j', (sent, page) => expect(readPage((name) => (sent as Record<string, unknown>)[name])).toEqual(page));

it.each([
  [{ per_page: 0 }, 'per_page has a value not allowed'],
  [{ per_page: -1 }, 'per_page is invalid'],
  [{ per_page: 'x', page: 'y' }, 'page is invalid, per_page is invalid'],
])('refuses %j', (sent, text) =>
  expect(() => readPage((name) => (sent as Record<string, unknown>)[name])).toThrow(text),
);

it.each([
  [{ page: 0 }, 'page does not have a valid value'],
  [{ page: -1, per_page: 0 }, 'page does not have a valid value, per_page does not have a valid value'],
  [{ per_page: -1 }, 'per_page does not have a valid value'],
])('refuses %j in a strict list', (sent, text) =>
  expect(() => readPage((name) => (sent as Record<string, unknown>)[name], true)).toThrow(text),
);

describe('keyset', () => {
  const option = { orderBy: ['id'], offsetCapFor: 'Project' };
  const read = (sent: Record<string, unknown>, anonymous = false, of: object = option) =>
    readKeyset({ ...option, ...of }, (name) => sent[name], { page: 1, perPage: 5 }, anonymous);

  it('is read from the parameters', () => {
    expect(read({})).toBeNull();
    expect(read({ pagination: 'keyset', id_after: '7' })).toEqual({
      perPage: 5,
      cursor: null,
      idAfter: 7,
      idBefore: null,
    });
    expect(read({ pagination: 'keyset', cursor: writeCursor({ id: 3 }) })?.cursor).toEqual({ id: 3 });
    expect(read({ pagination: 'keyset' }, false, { isAnonymousOnly: true })).toBeNull();
  });
  it('is refused for other orders, and for malformed cursors', () => {
    expect(() => read({ pagination: 'keyset', order_by: 'name' })).toThrow('not yet available');
    expect(() => read({ pagination: 'keyset', cursor: '!!' })).toThrow('cursor is invalid');
    expect(() => read({ pagination: 'sideways' })).toThrow('pagination does not have a valid value');
    expect(readCursor(Buffer.from('[1]').toString('base64url'))).toBeUndefined();
    for (const forged of [
      { id: 'zz' },
      { id: [1] },
      { id: 1e30 },
      { name: 'a' },
      { id: 1, name: 'a\0' },
      { id: 1, name: {} },
    ]) {
      expect(readCursor(writeCursor(forged))).toBeUndefined();
    }
  });
  it('is required past fifty thousand rows', () => {
    expect(() => refuseDeepOffset(option, { page: 2501, perPage: 20 }, true)).toThrow('objects of type Project');
    expect(() => refuseDeepOffset(option, { page: 2500, perPage: 20 }, true)).not.toThrow();
    expect(() => refuseDeepOffset(undefined, { page: 99_999, perPage: 100 }, true)).not.toThrow();
    const anonymousOnly = { ...option, isAnonymousOnly: true };
    expect(() => refuseDeepOffset(anonymousOnly, { page: 2501, perPage: 20 }, true)).toThrow('objects of type Project');
    expect(() => refuseDeepOffset(anonymousOnly, { page: 2501, perPage: 20 }, false)).not.toThrow();
  });
  it('links to the next page only, and not on the last page', () => {
    const page = keysetPage(2, [{ id: 1 }, { id: 2 }, { id: 3 }], (last) => ({ id_after: last.id }));
    const [name, link] = keysetHeaders(2, page.next, { ...source, query: { id_after: '1' } });
    expect([name, link]).toEqual([
      'link',
      `<${source.url}?id=a%2Fb&id_after=2&labels%5B%5D=x%20y&labels%5B%5D=z&pagination=keyset&per_page=2&sort=desc>; rel="next"`,
    ]);
    const tokens = keysetHeaders(2, { page_token: 'b' }, { ...source, query: { page_token: 'a' }, params: {} })[1];
    expect(tokens).toBe(`<${source.url}?id=a%2Fb&page_token=b&pagination=keyset&per_page=2>; rel="next"`);
    expect(keysetHeaders(2, keysetPage(2, [{ id: 1 }], () => ({ cursor: {} })).next, source)).toEqual([]);
  });
});
