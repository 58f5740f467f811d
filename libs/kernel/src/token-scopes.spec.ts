import { scopesOf, scopesOpening, TOKEN_SCOPES } from './token-scopes';

describe('the routes that a scope opens', () => {
  it.each<[string, string, readonly string[] | null]>([
    ['GET', '/projects/:id', ['api', 'read_api']],
    ['HEAD', '/projects', ['api', 'read_api']],
    ['POST', '/projects', ['api']],
    ['DELETE', '/users/:id', ['api']],
    ['GET', '/user', ['api', 'read_api', 'read_user']],
    ['GET', '/user/emails', ['api', 'read_api', 'read_user']],
    ['GET', '/users', ['api', 'read_api', 'read_user']],
    ['GET', '/users/:id/events', ['api', 'read_api', 'read_user']],
    ['GET', '/users_of_something', ['api', 'read_api']],
    ['GET', '/events', ['api', 'read_api', 'read_user']],
    ['GET', '/projects/:id/events', ['api', 'read_api']],
    ['POST', '/personal_access_tokens/self/rotate', ['api', 'self_rotate']],
    ['POST', '/personal_access_tokens/:id/rotate', ['api']],
    ['POST', '/groups/:id/access_tokens/self/rotate', ['api', 'self_rotate']],
    ['GET', '/projects/:id/repository/files/:file_path/raw', ['api', 'read_api', 'read_repository']],
    ['POST', '/projects/:id/repository/files/:file_path', ['api']],
    ['GET', '/personal_access_tokens/self', null],
    ['DELETE', '/personal_access_tokens/self', null],
    ['GET', '//users/confirmation', null],
    ['GET', '//-/sent_notifications/:key/unsubscribe', null],
    ['POST', '//-/sent_notifications/:key/unsubscribe', null],
    ['GET', '//uploads/-/system/group/avatar/:id/:filename', ['api', 'read_api']],
    ['GET', '/personal_access_tokens/self/associations', ['api', 'read_api']],
  ])('%s %s is opened by %j', (method, path, scopes) => expect(scopesOpening(method, path)).toEqual(scopes));

  it('lists the scopes that each holder may carry', () => {
    const all = Object.keys(TOKEN_SCOPES);
    const forAdministrators = ['sudo', 'admin_mode', 'read_service_ping'];
    expect(scopesOf('administrator')).toEqual(all);
    expect(scopesOf('person')).toEqual(all.filter((name) => !forAdministrators.includes(name)));
    expect(scopesOf('bot')).toEqual(scopesOf('person').filter((name) => name !== 'read_user'));
  });
});
