import type { BootContext } from '@rookery/platform';
import { lostCommand } from '../../src/removal/lost.command';
import { startIdentity } from '../support/app';
import type { IdentityApp } from '../support/app';

describe('rows lost by a restore', () => {
  let identity: IdentityApp;
  beforeAll(async () => void (identity = await startIdentity()));
  afterAll(() => identity.close());

  async function operate(...words: string[]): Promise<{ code: unknown; text: string }> {
    const output: string[] = [];
    const spies = [process.stdout, process.stderr].map((stream) =>
      jest.spyOn(stream, 'write').mockImplementation((text) => output.push(String(text)) > 0),
    );
    const context = { application: () => Promise.resolve({ get: identity.app.get.bind(identity.app) }) };
    const code = await lostCommand['lost']!.run(words, context as unknown as BootContext);
    for (const spy of spies) spy.mockRestore();
    return { code, text: output.join('') };
  }
  const deletedEvents = (): Promise<unknown[]> =>
    identity.db.query(`select subject, aggregate_id, actor_id, payload from outbox
      where subject like 'identity.%.deleted.v1' order by id`);

  it('are published as deleted when an operator names them', async () => {
    for (const table of ['users', 'namespaces', 'projects'])
      await identity.db.query(`select setval(pg_get_serial_sequence('${table}', 'id'), 900)`);
    expect(await operate('drop', 'project', '800', '801')).toEqual({
      code: 0,
      text: 'every service drops the rows of project 800, 801\n',
    });
    await operate('drop', 'group', '802');
    await operate('drop', 'user', '803');
    const [ghost] = await identity.db.query<{ id: number }>(`select id from users where kind = 'ghost'`);
    const event = (kind: string, id: number, payload: object) => ({
      subject: `identity.${kind}.deleted.v1`,
      aggregate_id: id,
      actor_id: null,
      payload,
    });
    expect(await deletedEvents()).toEqual([
      event('project', 800, { project_id: 800 }),
      event('project', 801, { project_id: 801 }),
      event('group', 802, { group_id: 802 }),
      event('user', 803, { user_id: 803, ghost_user_id: ghost!.id, hard_delete: false }),
    ]);
  });

  it('are neither existing ones nor ones that never existed', async () => {
    const before = await deletedEvents();
    const [root] = await identity.db.query<{ id: number }>(`select id from users where username = 'root'`);
    expect(await operate('drop', 'user', String(root!.id), '804')).toEqual({
      code: 1,
      text: `user ${root!.id} is not lost\n`,
    });
    expect(await operate('drop', 'project', '805', '999999')).toEqual({
      code: 1,
      text: 'project 999999 never existed\n',
    });
    for (const words of [[], ['drop'], ['drop', 'project'], ['drop', 'nest', '1'], ['drop', 'user', '1x'], ['list']])
      expect(await operate(...words)).toEqual({
        code: 2,
        text: 'usage: lost drop user|group|project <id>…   (other services: lost list)\n',
      });
    expect(await deletedEvents()).toEqual(before);
  });
});
