import { Moved } from '@rookery/kernel';
import { Links } from '@rookery/platform';
import { project } from '../call/scope';
import type { ProjectScope, ScopeResolver } from '../call/scope';
import { findMovedProjectRefusal } from './moved-projects';

const base = 'https://rookery.test/below';
const resolver = { formerProject: async () => ({ id: 7 }) as ProjectScope } as unknown as ScopeResolver;

test.each([
  ['/api/v4/projects/old%2Fpath', '/api/v4/projects/7'],
  ['/api/v4/projects/old%2Fpath/issues?search=a?b&x=/projects/1', '/api/v4/projects/7/issues?search=a?b&x=/projects/1'],
  ['/-/project/old%2Fpath/uploads/0f/a.png', '/-/project/7/uploads/0f/a.png'],
])('a read of %s is redirected', async (url, target) => {
  const asked = { ref: 'old/path', viewer: {} as never, method: 'GET', url };
  const moved = await findMovedProjectRefusal(project(), { resolver, links: new Links(base) }, asked);
  expect(moved).toBeInstanceOf(Moved);
  expect((moved as Moved).location).toBe(`${base}${target}`);
});
