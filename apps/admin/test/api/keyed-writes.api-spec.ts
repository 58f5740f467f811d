import { registerIdempotentWriteTests } from '@rookery/testing';
import type { SeededUser } from '@rookery/testing';
import { FlagsOfAProject } from '../support/flags';

let flags: FlagsOfAProject;
const administrators: SeededUser[] = [];
beforeAll(async () => {
  flags = await FlagsOfAProject.start();
  for (let index = 0; index < 2; index += 1) administrators.push(await flags.service.seed.user({ admin: true }));
});
afterAll(() => flags.service.close());

let counter = 0;
const asAdministrator = (index: number) => flags.app.as(flags.service.seed.viewer(administrators[index]!));

registerIdempotentWriteTests('POST /broadcast_messages', {
  caller: () => asAdministrator(0),
  stranger: () => asAdministrator(1),
  database: () => flags.service.database,
  table: 'broadcast_messages',
  write: () => ({ method: 'POST', path: '/api/v4/broadcast_messages', body: { message: `Tea ${(counter += 1)}` } }),
  count: async () => (await flags.service.database.query('select 1 from broadcast_messages')).length,
  refused: { message: ' ' },
});

describe('a write with an idempotency key', () => {
  const client = `feature_flags_client`;

  it('returns a new secret once, and again for ten minutes only', async () => {
    const maintainer = flags.app.as(await flags.member('maintainer'));
    const reset = () => maintainer.post(flags.path(`${client}/reset_token`)).set('Idempotency-Key', 'reset');
    const { body: first } = await reset().expect(200);
    expect((await reset().expect(200)).body).toEqual(first);
    expect((await maintainer.get(flags.path(client)).expect(200)).body).toEqual(first);
    await flags.service.database.query(`update idempotency_keys set answer_until = now()`);
    const late = await reset();
    expect([late.status, late.body]).toEqual([
      422,
      { message: 'Idempotency-Key was used, and the answer held a secret that is not kept any more' },
    ]);
    expect((await maintainer.get(flags.path(client)).expect(200)).body).toEqual(first);
  });

  it('requires a caller who can be distinguished from others', async () => {
    const maintainer = flags.app.as(await flags.member('maintainer'));
    const { body }: { body: { token: string } } = await maintainer.get(flags.path(client)).expect(200);
    const answer = await flags.app
      .as(flags.service.seed.anonymous())
      .post(`/api/v4/feature_flags/unleash/${flags.project.id}/client/register`)
      .set('UNLEASH-INSTANCEID', body.token)
      .set('Idempotency-Key', 'k')
      .send({});
    expect([answer.status, answer.body]).toEqual([
      400,
      { message: '400 Bad request - Idempotency-Key is for callers with a token' },
    ]);
  });
});
