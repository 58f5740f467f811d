import { isRouteOpenToJobTokens } from './job-token-routes';

it.each([
  ['GET', '/job', true],
  ['HEAD', '/projects/:id/packages/:package_id', true],
  ['PUT', '/projects/:id/packages/generic/:package_name/:package_version/:file_name', true],
  ['DELETE', '/projects/:id/packages/:package_id', true],
  ['GET', '/projects/:id/releases', true],
  ['GET', '/projects/:id/repository/files/:file_path/raw', true],
  ['GET', '//*full_path.git/info/refs', true],
  ['POST', '//*full_path.git/git-upload-pack', true],
  ['POST', '//*full_path.git/git-receive-pack', false],
  ['GET', '/projects/:id/packages/protection/rules', false],
  ['POST', '/projects/:id/packages/protection/rules', false],
  ['POST', '/projects/:id/repository/files/:file_path', false],
  ['GET', '/groups/:id/packages', false],
  ['GET', '/projects/:id', false],
  ['GET', '/user', false],
  ['POST', '/projects/:id/pipeline', false],
])('%s %s: %s', (method, path, isOpen) => expect(isRouteOpenToJobTokens(method, path)).toBe(isOpen));
