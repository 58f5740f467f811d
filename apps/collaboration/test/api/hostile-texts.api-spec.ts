import type { DirectoryNamespace, DirectoryProject } from '@rookery/contracts';
import type { Viewer } from '@rookery/kernel';
import type { SeededService } from '@rookery/testing';
import { castOf, startCollaboration } from '../support/app';
import type { Cast } from '../support/app';
import { TEXTS, prepared, problemOf } from '../support/hostile-texts';

/** Fields that accept long texts. Source: reference reliability 7.3. */
let service: SeededService;
let project: DirectoryProject;
let group: DirectoryNamespace;
let cast: Cast;
let viewer: Viewer;
let made: Record<'issue' | 'epic' | 'label' | 'milestone' | 'snippet' | 'note', string>;

beforeAll(async () => {
  service = await startCollaboration({ NOTES_CREATES_PER_MINUTE_COUNT: '0' });
  const { seed } = service;
  group = await seed.group({ plan: 'ultimate' });
  project = await seed.project({ namespace_id: group.id });
  cast = await castOf(seed, project);
  await seed.member(cast.owner, group, 'owner');
  viewer = { ...seed.viewer(cast.owner), directory: seed.anonymous().directory };
  const one = async (path: string, fields: object): Promise<{ id: number; iid: number }> =>
    (await service.app.as(viewer).post(path).send(fields).expect(201)).body as { id: number; iid: number };
  const [p, g] = [`/api/v4/projects/${project.id}`, `/api/v4/groups/${group.id}`];
  const issue = `${p}/issues/${(await one(`${p}/issues`, { title: 'x' })).iid}`;
  made = {
    issue,
    epic: `${g}/epics/${(await one(`${g}/epics`, { title: 'x' })).iid}`,
    label: `${p}/labels/${(await one(`${p}/labels`, { name: 'x', color: '#ff0000' })).id}`,
    milestone: `${p}/milestones/${(await one(`${p}/milestones`, { title: 'x' })).id}`,
    snippet: `${p}/snippets/${(await one(`${p}/snippets`, FILE)).id}`,
    note: `${issue}/notes/${(await one(`${issue}/notes`, { body: 'x' })).id}`,
  };
});
afterAll(() => service.close());

const FILE = { title: 'x', visibility: 'private', files: [{ file_path: 'a.txt', content: 'x' }] };
type Method = 'post' | 'put';
interface TextField {
  readonly method: Method;
  readonly path: () => string;
  readonly fields: (text: string) => object;
}
const apiPathOf = (kind: 'projects' | 'groups', tail: string) => () =>
  `/api/v4/${kind}/${kind === 'projects' ? project.id : group.id}/${tail}`;
const postField = (path: () => string, fields: TextField['fields']): TextField => ({ method: 'post', path, fields });
const putField = (path: () => string, fields: TextField['fields']): TextField => ({ method: 'put', path, fields });
const FIELDS: Readonly<Record<string, TextField>> = {
  'the title of an issue': postField(apiPathOf('projects', 'issues'), (title) => ({ title })),
  'the description of an issue': postField(apiPathOf('projects', 'issues'), (description) => ({
    title: 'x',
    description,
  })),
  'a new description of an issue': putField(
    () => made.issue,
    (description) => ({ description }),
  ),
  'labels of an issue': postField(apiPathOf('projects', 'issues'), (labels) => ({ title: 'x', labels })),
  'a note': postField(
    () => `${made.issue}/notes`,
    (body) => ({ body }),
  ),
  'a changed note': putField(
    () => made.note,
    (body) => ({ body }),
  ),
  'a discussion': postField(
    () => `${made.issue}/discussions`,
    (body) => ({ body }),
  ),
  'the name of an emoji': postField(
    () => `${made.issue}/award_emoji`,
    (name) => ({ name }),
  ),
  'an estimate': postField(
    () => `${made.issue}/time_estimate`,
    (duration) => ({ duration }),
  ),
  'the name of a label': postField(apiPathOf('projects', 'labels'), (name) => ({ name, color: '#ff0000' })),
  'the colour of a label': postField(apiPathOf('projects', 'labels'), (color) => ({ name: 'y', color })),
  'the description of a label': putField(
    () => made.label,
    (description) => ({ description }),
  ),
  'the title of a milestone': postField(apiPathOf('projects', 'milestones'), (title) => ({ title })),
  'the description of a milestone': putField(
    () => made.milestone,
    (description) => ({ description }),
  ),
  'the title of an epic': postField(apiPathOf('groups', 'epics'), (title) => ({ title })),
  'the description of an epic': postField(apiPathOf('groups', 'epics'), (description) => ({ title: 'x', description })),
  'a new description of an epic': putField(
    () => made.epic,
    (description) => ({ description }),
  ),
  'the title of a snippet': postField(apiPathOf('projects', 'snippets'), (title) => ({ ...FILE, title })),
  'the description of a snippet': putField(
    () => made.snippet,
    (description) => ({ description }),
  ),
  'the content of a snippet': putField(
    () => made.snippet,
    (content) => ({ files: [{ action: 'update', file_path: 'a.txt', content }] }),
  ),
  'the name of a file': postField(apiPathOf('projects', 'snippets'), (file_path) => ({
    ...FILE,
    files: [{ file_path, content: 'x' }],
  })),
};

/** Parsed fields get all texts; fields that are only stored or refused get some. */
const READ = ['the description of an issue', 'a new description of an issue', 'a note'];
const SOME = ['blanks', 'ticked boxes', 'ticks', 'commas', 'halves of faces', 'zeros'];
const SEARCH_TERMS = ['words', 'one word', 'accents', 'percents', 'backslashes', 'underscores', ...SOME];

describe.each(Object.entries(FIELDS))('%s', (field, { method, path, fields }) => {
  test('is refused or stored quickly with any text', async () => {
    const wrong: string[] = [];
    for (const [name, text] of Object.entries(TEXTS)) {
      if (!READ.includes(field) && !SOME.includes(name)) continue;
      const send = prepared(fields(text));
      const problem = await problemOf(name, () => send(service.app.as(viewer)[method](path())));
      if (problem !== null) wrong.push(problem);
    }
    expect(wrong).toEqual([]);
  }, 180_000);
});

/** Search terms are in the URL, so they are as long as it may be. Pages have one row, because found rows are long. */
const SEARCHES: Readonly<Record<string, () => string>> = {
  issues: apiPathOf('projects', 'issues'),
  'issues of a group': apiPathOf('groups', 'issues'),
  'all issues': () => '/api/v4/issues?scope=all',
  labels: apiPathOf('projects', 'labels'),
  milestones: apiPathOf('projects', 'milestones'),
  epics: apiPathOf('groups', 'epics'),
};
describe.each(Object.entries(SEARCHES))('a search for %s', (_, path) => {
  test('is refused or answered quickly with any term', async () => {
    const wrong: string[] = [];
    for (const name of SEARCH_TERMS) {
      // Lone surrogates are not valid UTF-8.
      const search = Buffer.from(TEXTS[name]!.slice(0, name === 'words' ? 1000 : 255)).toString();
      const problem = await problemOf(name, async () =>
        service.app.as(viewer).get(path()).query({ search, per_page: 1 }),
      );
      if (problem !== null) wrong.push(problem);
    }
    expect(wrong).toEqual([]);
  }, 180_000);
});
