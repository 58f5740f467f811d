import { parseRequestTarget } from './raw-target';
import type { RouteRow } from './route';
import { RouteTable } from './route-table';

const row: RouteRow = { service: 'identity', shed: 'read' };
const table = new RouteTable({
  '/projects': { GET: row, POST: row },
  '/projects/import': { POST: row },
  '/projects/{id}': { GET: row, PUT: row },
  '/projects/{id}/issues/{iid}': { GET: row },
  '/projects/{key}/issues/new': { GET: row },
  '/projects/{id}/archive.{format}': { GET: row },
  '/projects/{id}/{name}.git/info/refs': { GET: row },
  '/projects/{id}/maven/{path*}': { GET: row, PUT: row },
  '/projects/{id}/maven/simple/{name}': { GET: row },
  '/projects/{id}/npm/*path': { GET: row },
});

function matchedTemplate(method: string, url: string): string {
  const target = parseRequestTarget(url);
  if (!target) return 'refused';
  const match = table.findRoute(method, target.segments);
  if (match.kind === 'route') return match.route.template;
  return match.kind === 'none' ? 'none' : match.allowed.join(' ');
}

describe('RouteTable', () => {
  it.each([
    ['GET', '/projects', '/projects'],
    ['GET', '/projects/', '/projects'],
    ['GET', '//projects//5', '/projects/{id}'],
    ['GET', '/projects/a%2Fb', '/projects/{id}'],
    ['GET', '/projects/a/b', 'none'],
    ['GET', '/%70rojects/5', '/projects/{id}'],
    ['GET', '/projects/5.json', '/projects/{id}'],
    ['POST', '/projects/import', '/projects/import'],
    ['GET', '/projects/import', '/projects/{id}'],
    ['PUT', '/projects/im%70ort', '/projects/{id}'],
    ['GET', '/projects/1/issues/new', '/projects/{key}/issues/new'],
    ['GET', '/projects/1/issues/2', '/projects/{id}/issues/{iid}'],
    ['GET', '/projects/1/issues/new%2Fx', '/projects/{id}/issues/{iid}'],
    ['GET', '/projects/1/archive.tar.gz', '/projects/{id}/archive.{format}'],
    ['GET', '/projects/1/x.git/info/refs', '/projects/{id}/{name}.git/info/refs'],
    ['GET', '/projects/1/.git/info/refs', 'none'],
    ['GET', '/projects/1/maven/a/b/c.jar', '/projects/{id}/maven/{path*}'],
    ['GET', '/projects/1/maven', 'none'],
    ['GET', '/projects/1/maven/simple/x', '/projects/{id}/maven/simple/{name}'],
    ['PUT', '/projects/1/maven/simple/x', '/projects/{id}/maven/{path*}'],
    ['GET', '/projects/1/npm/@scope%2fname', '/projects/{id}/npm/*path'],
    ['HEAD', '/projects/1', '/projects/{id}'],
    ['DELETE', '/projects/1', 'GET HEAD OPTIONS PUT'],
    ['DELETE', '/projects/import', 'GET HEAD OPTIONS POST PUT'],
    ['TRACE', '/projects', 'GET HEAD OPTIONS POST'],
    ['GET', '/', 'none'],
  ])('%s %s is %s', (method, url, template) => {
    expect(matchedTemplate(method, url)).toBe(template);
  });
});
