import { randomUUID } from 'node:crypto';
import { INTERNAL_CALLERS, INTERNAL_PATHS, SERVICE_NAMES } from '@rookery/contracts';
import type { ProcessName } from '@rookery/platform';
import { internalAuthorization } from '@rookery/testing';
import type { IdentityApp } from '../support/app';
import { startIdentity } from '../support/app';

let identity: IdentityApp;
beforeAll(async () => void (identity = await startIdentity()));
afterAll(() => identity.close());

const OTHERS: readonly ProcessName[] = ['gateway', ...SERVICE_NAMES.filter((name) => name !== 'identity')];

describe.each([
  ['resolveToken', 'POST', { digest: null, ip: null }],
  ['resolveSudo', 'POST', { ref: 'nobody' }],
  ['startWebSession', 'POST', { digest: 'nothing' }],
  ['checkWebSession', 'POST', { id: 'nothing' }],
  ['listWebSessions', 'POST', { id: 'nothing' }],
  ['endWebSession', 'POST', { id: 'nothing', ended_id: 'nothing' }],
  ['directoryChanges', 'GET', {}],
  ['directoryHead', 'GET', {}],
  ['decide', 'POST', { viewer_id: null, project: 1 }],
  ['formerProject', 'POST', { full_path: 'nobody/nothing' }],
  ['confirmCaller', 'POST', { token_id: 1, user_id: 1 }],
  ['accountMails', 'POST', { mails: [] }],
  ['importTarget', 'POST', { user_id: 1, namespace: 'nobody' }],
  ['importState', 'POST', { import_key: randomUUID(), state: 'started', error: null }],
  ['importPeople', 'POST', { import_key: randomUUID(), host: 'git.example', people: [] }],
  ['notificationEmail', 'POST', { user_id: 1, email: null }],
] as const)('%s', (call, method, asked) => {
  const path = INTERNAL_PATHS[call];
  const ask = (authorization: string) => {
    const { app } = identity;
    const request =
      method === 'GET'
        ? app.bare().get(path).query({ after: 0, epoch: '', limit: 1 })
        : app.bare().post(path).send(asked);
    return request.set('authorization', authorization);
  };

  it.each(OTHERS)('answers %s only to its permitted callers', async (caller) => {
    const may: readonly ProcessName[] = INTERNAL_CALLERS[call];
    const { status } = await ask(internalAuthorization(caller, 'identity'));
    expect([caller, status]).toEqual([caller, may.includes(caller) ? 200 : 403]);
  });

  it('refuses keys of other services', async () => {
    for (const caller of OTHERS) {
      expect((await ask(internalAuthorization('identity', caller))).status).toBe(401);
    }
    expect((await ask(internalAuthorization('gateway', 'collaboration'))).status).toBe(401);
  });
});
