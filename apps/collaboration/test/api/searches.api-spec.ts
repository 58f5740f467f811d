import type { DirectoryProject } from '@rookery/contracts';
import type { Viewer } from '@rookery/kernel';
import type { SeededService } from '@rookery/testing';
import { startCollaboration } from '../support/app';

/** Length of the searched prefix of a long text. */
const SEARCHED = 65_536;

let service: SeededService;
let project: DirectoryProject;
let owner: Viewer;
beforeAll(async () => {
  service = await startCollaboration();
  project = await service.seed.project({ visibility: 'public' });
  const user = await service.seed.user();
  await service.seed.member(user, project, 'owner');
  owner = service.seed.viewer(user);
});
afterAll(() => service.close());

const KINDS = ['issues', 'milestones', 'labels'] as const;
describe.each(KINDS)('a search of %s', (kind) => {
  const called = kind === 'labels' ? 'name' : 'title';
  const list = (search: string) =>
    service.app
      .as(owner)
      .get(`/api/v4/projects/${project.id}/${kind}`)
      .query({ search, ...(kind === 'labels' ? {} : { sort: 'asc' }) });
  const found = async (search: string): Promise<string[]> => {
    const { body } = await list(search).expect(200);
    return (body as Record<string, string>[]).map((row) => row[called]!).sort();
  };
  beforeAll(async () => {
    const rows: readonly (readonly [string, string])[] = [
      ['Plain egg', 'nothing else'],
      ['Signs', 'a.c 100% (x|y)* [z] ***= \\d_'],
      ['Edge', `${'x'.repeat(SEARCHED - 6)} WITHIN`.slice(-SEARCHED).concat(' beyond')],
      ['Wide', 'Vögel ÄÖÜ 鳥'],
    ];
    for (const [name, description] of rows) {
      const fields = { [called]: name, description, ...(kind === 'labels' ? { color: '#ffffff' } : {}) };
      await service.app.as(owner).post(`/api/v4/projects/${project.id}/${kind}`).send(fields).expect(201);
    }
  });

  it('finds a part of the title or description, ignoring case', async () => {
    expect(await found('PLAIN')).toEqual(['Plain egg']);
    expect(await found('OTHING')).toEqual(['Plain egg']);
    expect(await found('vÖGEL')).toEqual(['Wide']);
    expect(await found('鳥')).toEqual(['Wide']);
    expect(await found('hatched')).toEqual([]);
  });

  it.each(['a.c', '100%', '(x|y)*', '[z]', '***=', '\\d_'])('searches for %s literally', async (signs) => {
    expect(await found(signs)).toEqual(['Signs']);
    expect(await found(`${signs}!`)).toEqual([]);
  });

  it('treats metacharacters literally', async () => {
    expect(await found('a.*y')).toEqual([]);
    expect(await found('(?i)x')).toEqual([]);
  });

  it('searches the beginning of long texts', async () => {
    expect(await found('within')).toEqual(['Edge']);
    expect(await found('beyond')).toEqual([]);
  });

  it('has a maximum length and no control characters', async () => {
    expect((await list('x'.repeat(255))).status).toBe(200);
    const refusal = async (search: string) => {
      const { status, body } = await list(search);
      return [status, body];
    };
    expect(await refusal('x'.repeat(256))).toEqual([400, { error: 'search is too long (maximum is 255 characters)' }]);
    for (const control of ['\u0000', '\u0007', '\u001b', '\u007f', '\u0085']) {
      expect(await refusal(`a${control}b`)).toEqual([400, { error: 'search is invalid' }]);
    }
    expect((await list('a\tb\r\n')).status).toBe(200);
  });

  it('without a term finds all', async () => {
    expect(await found('')).toHaveLength(4);
  });
});

it('finds issues with all of the words in the searched fields', async () => {
  const titles = async (query: Readonly<Record<string, string>>): Promise<string[]> => {
    const { body } = await service.app.as(owner).get(`/api/v4/projects/${project.id}/issues`).query(query).expect(200);
    return (body as { title: string }[]).map(({ title }) => title);
  };
  expect(await titles({ search: 'else  plain nothing' })).toEqual(['Plain egg']);
  expect(await titles({ search: 'plain nowhere' })).toEqual([]);
  expect(await titles({ search: 'nothing', in: 'title' })).toEqual([]);
  expect(await titles({ search: 'plain', in: 'description' })).toEqual([]);
  expect(await titles({ search: 'nothing', in: '' })).toEqual(['Plain egg']);
  expect(await titles({ search: ' ' })).toHaveLength(4);
});
