import type { BootContext } from '@rookery/platform';
import type { TestDatabase } from '@rookery/testing';
import { lostCommand } from '../../src';
import { Copy } from '../copy';
import { IdentityServer } from '../identity-server';

describe('a lost record', () => {
  let database: TestDatabase;
  let identity: IdentityServer;
  let copy: Copy;

  beforeAll(async () => {
    database = await Copy.database();
    identity = new IdentityServer();
    await identity.listen();
    copy = await Copy.start(database.url, identity.url);
  });

  afterAll(async () => {
    await copy.stop();
    await identity.close();
    await database.drop();
  });

  async function operate(...words: string[]): Promise<{ code: unknown; text: string }> {
    const output: string[] = [];
    const spies = [process.stdout, process.stderr].map((stream) =>
      jest.spyOn(stream, 'write').mockImplementation((text) => output.push(String(text)) > 0),
    );
    const context = { application: () => Promise.resolve(copy.testing) } as unknown as BootContext;
    const code = await lostCommand['lost']!.run(words, context);
    for (const spy of spies) spy.mockRestore();
    return { code, text: output.join('') };
  }

  it('is listed until an operator keeps it', async () => {
    expect(await operate('list')).toEqual({ code: 0, text: '0 lost\n' });
    await copy.database.query(`insert into directory_lost (kind, id, name, created_at, state, noticed_at) values
      ('user', 7, 'ann', now(), 'open', '2026-11-21T09:00:00Z'),
      ('project', 50, 'eggs', now(), 'open', '2026-11-21T09:00:00Z'),
      ('project', 51, 'nest', now(), 'kept', '2026-11-21T09:00:00Z')`);
    const eggs = 'project 50 eggs unknown since 2026-11-21T09:00:00Z\n';
    expect((await operate('list')).text).toBe(`${eggs}user 7 ann unknown since 2026-11-21T09:00:00Z\n2 lost\n`);
    expect(await operate('keep', 'user', '7')).toEqual({ code: 0, text: '1 kept\n' });
    expect(await operate('list')).toEqual({ code: 0, text: `${eggs}1 lost\n` });
    expect(await operate('keep', 'user', '7')).toEqual({ code: 1, text: '0 kept\n' });
  });

  it('is not changed by invalid arguments', async () => {
    for (const words of [
      [],
      ['keep'],
      ['keep', 'user'],
      ['keep', 'nest', '1'],
      ['keep', 'user', 'x'],
      ['drop', 'user', '7'],
    ]) {
      const { code, text } = await operate(...words);
      expect([code, text.slice(0, 6)]).toEqual([2, 'usage:']);
    }
  });
});
