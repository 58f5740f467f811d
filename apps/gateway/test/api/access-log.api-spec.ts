import { request } from 'undici';
import { Estate, eventually } from '../support/estate';
import type { Gateway } from '../support/estate';
import { aHolder } from '../support/fake-identity';

describe('the access log', () => {
  const estate = new Estate();
  let gateway: Gateway;
  beforeAll(async () => {
    await estate.start();
    estate.identityInside.give('reader', aHolder());
    estate.identityInside.give('root', aHolder({ user_id: 1, token_id: 2, admin: true, scopes: ['api', 'sudo'] }));
    gateway = await estate.gateway({ GATEWAY_ACCESS_LOG: 'on' });
  });
  afterAll(() => estate.stop());

  /** Sends a request and returns its line. */
  const lineOf = async (path: string, headers: Record<string, string> = {}, at = gateway) => {
    const id = `log-${Math.random().toString(36).slice(2)}`;
    const answer = await request(`${at.url}${path}`, { headers: { 'x-request-id': id, ...headers } });
    await answer.body.dump();
    const own = () => at.logs.filter((line) => line['msg'] === 'request' && line['requestId'] === id);
    await eventually(() => own().length > 0);
    expect(own()).toHaveLength(1);
    return own()[0]!;
  };

  it('has one line for each request, with the caller, the route and the duration', async () => {
    expect(await lineOf('/api/v4/projects/7', { 'private-token': 'reader' })).toEqual({
      level: 'info',
      time: expect.any(String) as string,
      service: 'gateway',
      requestId: expect.any(String) as string,
      method: 'GET',
      path: '/api/v4/projects/7',
      route: '/api/v4/projects/{id}',
      upstream: 'identity',
      status: 200,
      ms: expect.any(Number) as number,
      address: '127.0.0.1',
      userId: 7,
      tokenId: 70,
      isAdmin: false,
      msg: 'request',
    });
  });

  it('names administrators, also behind sudo', async () => {
    const root = { 'private-token': 'root' };
    expect(await lineOf('/api/v4/user', root)).toMatchObject({ userId: 1, isAdmin: true });
    estate.identityInside.sudoUsers.set('mina', {
      id: 7,
      username: 'mina',
      admin: false,
      external: false,
      bot: false,
      state: 'active',
    });
    expect(await lineOf('/api/v4/user', { ...root, sudo: 'mina' })).toMatchObject({ userId: 7, actingForId: 1 });
  });

  it('names the administrator behind an impersonation token', async () => {
    estate.identityInside.give('posed', aHolder({ impersonator_id: 1 }));
    expect(await lineOf('/api/v4/user', { 'private-token': 'posed' })).toMatchObject({ userId: 7, impersonatorId: 1 });
  });

  it('names refusals with their reason', async () => {
    expect(await lineOf('/api/v4/user', { 'private-token': 'nobody' })).toMatchObject({
      status: 401,
      refusal: 'unauthorized',
    });
    expect(await lineOf('/api/v4/nothing')).toMatchObject({ status: 404, path: '/api/v4/nothing' });
  });

  it('contains no query, no header and no key of a link', async () => {
    const lines = [
      await lineOf('/api/v4/user?private_token=reader&search=hidden'),
      await lineOf('/-/sent_notifications/0123456789abcdef/unsubscribe', { cookie: 'hidden=1' }),
      await lineOf('/api/v4/projects/glpat-hidden0123456789', { authorization: 'Bearer hidden123' }),
    ];
    expect(JSON.stringify(lines)).not.toMatch(/hidden|reader|0123456789abcdef/);
  });

  it.each([
    ['/-/project/7/uploads/0123456789abcdef/a.png', '/-/project/7/uploads/[secret]/a.png'],
    ['/mina/wren/uploads/0123456789abcdef/a.png', '/mina/wren/uploads/[secret]/a.png'],
    ['/mina/wren/uploads/0123456789abcdef', '/mina/wren/uploads/[secret]'],
    ['/mina/wren/UPLOADS/0123456789ABCDEF/a.png', '/mina/wren/UPLOADS/[secret]/a.png'],
    ['/mina/wren//uploads//0123456789abcdef//a.png', '/mina/wren/uploads/[secret]/a.png'],
    ['/mina/wren/%75ploads/%30123456789abcdef/a.png', '/mina/wren/%75ploads/[secret]/a.png'],
    ['/mina%2Fwren%2fuploads%2F0123456789abcdef%2Fa.png', '/mina%2Fwren%2fuploads%2F[secret]%2Fa.png'],
    ['/mina/wren/uploads%2F%2F0123456789abcdef', '/mina/wren/uploads%2F%2F[secret]'],
    ['/mina/wren/uploads%5C0123456789abcdef', '/mina/wren/uploads%5C[secret]'],
    ['/mina/wren/uploads/%200123456789abcdef.png', '/mina/wren/uploads/[secret]'],
    ['/api/v4/packages/npm/-/user/token/0123456789abcdef', '/api/v4/packages/npm/-/user/token/[secret]'],
    ['/api/v4/packages/npm/-%2Fuser/TOKEN/0123456789abcdef', '/api/v4/packages/npm/-%2Fuser/TOKEN/[secret]'],
    ['/api/v4/packages/npm/-/user/token/01234%2F56789abcdef/x', '/api/v4/packages/npm/-/user/token/[secret]'],
    ['/-/sent_notifications/0123456789abcdef/unsubscribe', '/-/sent_notifications/[secret]/unsubscribe'],
    ['/-/sent%5Fnotifications/0123456789abcdef', '/-/sent%5Fnotifications/[secret]'],
    [`/sent_notifications/Issue.7.8.0123456789abcdef${'x'.repeat(27)}`, '/sent_notifications/[secret]'],
  ])('does not contain the secret in %s', async (path, logged) => {
    const line = await lineOf(path);
    expect(line).toMatchObject({ path: logged });
    expect(JSON.stringify(line)).not.toMatch(/0123456789abcdef|56789abcdef/i);
  });

  it.each([
    '/api/v4/projects/mina%2Fuploads%2Fwren/issues',
    '/api/v4/projects/7/packages/generic/uploads/1.0/a.tgz',
    '/mina/uploads/wren.git/info/refs',
    '/api/v4/projects/user%2Ftoken%2Fwren',
    '/api/v4/projects/sent_notifications%2Fwren',
  ])('contains %s, which only has the name of a place of secrets', async (path) => {
    expect(await lineOf(path)).toMatchObject({ path });
  });

  it('is off by default', async () => {
    const silent = await estate.gateway();
    await (await request(`${silent.url}/api/v4/user`)).body.dump();
    expect(silent.logs.filter((line) => line['msg'] === 'request')).toEqual([]);
  });
});
