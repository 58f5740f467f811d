import type { DirectoryNamespace } from '@rookery/contracts';
import type { Viewer } from '@rookery/kernel';
import { registerListPagingTests } from '@rookery/testing';
import type { SeededService } from '@rookery/testing';
import type { Response } from 'supertest';
import { startCollaboration } from '../support/app';
import { epicPlaces } from '../support/epics';
import type { ShownEpic } from '../support/epics';

let service: SeededService;
let root: DirectoryNamespace;
let middle: DirectoryNamespace;
let hidden: DirectoryNamespace;
let leaf: DirectoryNamespace;
let planner: Viewer;
let other: Viewer;
let otherName: string;
const { as, pathOf, standing, group, open } = epicPlaces(() => service);
const answerOf = ({ status, body }: Response): [number, unknown] => [status, body];
const read = async (viewer: Viewer, place: DirectoryNamespace, query: object = {}): Promise<ShownEpic[]> =>
  (await as(viewer).get(pathOf(place)).query(query).expect(200)).body as ShownEpic[];
const titles = async (viewer: Viewer, place: DirectoryNamespace, query: object = {}): Promise<string[]> =>
  (await read(viewer, place, query)).map(({ title }) => title);
const sorted = (names: readonly string[]): string[] => [...names].sort();
const dayInJanuary = (day: number): string => `2026-01-0${day}T00:00:00.000Z`;

beforeAll(async () => {
  service = await startCollaboration();
  root = await group();
  middle = await group({ parent: root });
  hidden = await group({ parent: root, visibility: 'private' });
  leaf = await group({ parent: middle });
  planner = await standing(root, 'owner');
  const user = await service.seed.user();
  await service.seed.member(user, root, 'planner');
  [other, otherName] = [service.seed.viewer(user), user.username];
  await open(planner, root, { title: 'root', labels: 'wood,twigs', created_at: dayInJanuary(1) });
  await open(planner, middle, {
    title: 'Middle',
    labels: 'wood',
    created_at: dayInJanuary(2),
    description: 'A warm Nest',
  });
  await open(planner, hidden, { title: 'hidden', created_at: dayInJanuary(3), confidential: true });
  await open(other, leaf, { title: 'leaf', labels: 'moss' });
  await as(planner)
    .put(`${pathOf(middle)}/1`)
    .send({ state_event: 'close', updated_at: dayInJanuary(5) })
    .expect(200);
  await service.database.query(
    `insert into award_emoji (awardable_type, awardable_id, noteable_type, noteable_id, user_id, name)
     select 'Epic', id, 'Epic', id, $1, 'rocket' from epics where title = 'root'`,
    [planner.userId],
  );
});
afterAll(() => service.close());

it('contains the readable epics of the group and its descendants', async () => {
  expect(await titles(planner, root)).toEqual(['leaf', 'hidden', 'Middle', 'root']);
  const outsider = await standing(root, 'outsider');
  expect(await titles(outsider, root)).toEqual(['leaf', 'Middle', 'root']);
  expect(await titles(planner, middle)).toEqual(['leaf', 'Middle']);
});

it('contains confidential epics where the caller is at least planner', async () => {
  const guest = await standing(hidden, 'guest');
  expect(await titles(guest, root)).toEqual(['leaf', 'Middle', 'root']);
  const inside = await standing(hidden, 'reporter');
  expect(await titles(inside, root)).toEqual(['leaf', 'hidden', 'Middle', 'root']);
  const editable = (await read(inside, root)).filter((epic) => 'start_date_is_fixed' in epic);
  expect(editable.map(({ title }) => title)).toEqual(['hidden']);
});

it('is limited to the group, or extended to visible ancestor groups', async () => {
  expect(await titles(planner, middle, { include_descendant_groups: false })).toEqual(['Middle']);
  expect(await titles(planner, leaf, { include_ancestor_groups: true })).toEqual(['leaf', 'Middle', 'root']);
  const only = { include_descendant_groups: false, include_ancestor_groups: true };
  expect(await titles(planner, middle, only)).toEqual(['Middle', 'root']);
  const secret = await group({ visibility: 'private' });
  const below = await group({ parent: secret, visibility: 'private' });
  const admin = await standing(secret, 'admin');
  for (const place of [secret, below]) await open(admin, place, { title: String(place.id) });
  const guest = await standing(below, 'guest');
  expect(await titles(guest, below, { include_ancestor_groups: true })).toEqual([String(below.id)]);
});

it('references are short in the group of the epic, and full elsewhere', async () => {
  const relative = async (place: DirectoryNamespace): Promise<Record<string, string>> =>
    Object.fromEntries((await read(planner, place)).map(({ title, references }) => [title, references.relative]));
  expect(await relative(middle)).toEqual({ Middle: '&1', leaf: `${leaf.full_path}&1` });
  expect(await relative(leaf)).toEqual({ leaf: '&1' });
});

const FILTERS: readonly (readonly [object, readonly string[]])[] = [
  [{ labels: 'wood' }, ['Middle', 'root']],
  [{ labels: 'wood,twigs' }, ['root']],
  [{ labels: ['wood', 'twigs'] }, ['root']],
  [{ labels: 'None' }, ['hidden']],
  [{ labels: 'Any' }, ['Middle', 'leaf', 'root']],
  [{ labels: 'unheard' }, []],
  [{ 'not[labels]': 'wood' }, ['hidden', 'leaf']],
  [{ 'not[labels]': 'twigs,moss' }, ['Middle', 'hidden']],
  [{ state: 'opened' }, ['hidden', 'leaf', 'root']],
  [{ state: 'closed' }, ['Middle']],
  [{ confidential: true }, ['hidden']],
  [{ confidential: false }, ['Middle', 'leaf', 'root']],
  [{ search: 'nest WARM' }, ['Middle']],
  [{ search: 'ROOT' }, ['root']],
  [{ created_after: dayInJanuary(2), created_before: dayInJanuary(3) }, ['Middle', 'hidden']],
  [{ updated_before: dayInJanuary(5) }, ['Middle', 'hidden', 'root']],
  [{ updated_after: dayInJanuary(5) }, ['Middle', 'leaf']],
  [{ my_reaction_emoji: 'rocket' }, ['root']],
  [{ my_reaction_emoji: 'Any' }, ['root']],
  [{ my_reaction_emoji: 'None' }, ['Middle', 'hidden', 'leaf']],
  [{ my_reaction_emoji: 'tada' }, []],
];

it.each(FILTERS)('%j matches %j', async (filter, expected) => {
  const { body, headers } = await as(planner).get(pathOf(root)).query(filter).expect(200);
  expect(sorted((body as ShownEpic[]).map(({ title }) => title))).toEqual(sorted(expected));
  expect(headers['x-total']).toBe(String(expected.length));
});

it('is filtered by author and by not[author]', async () => {
  expect(await titles(planner, root, { author_id: other.userId })).toEqual(['leaf']);
  expect(await titles(planner, root, { author_username: otherName.toUpperCase() })).toEqual(['leaf']);
  expect(await titles(planner, root, { author_username: 'nobody' })).toEqual([]);
  const rest = ['hidden', 'Middle', 'root'];
  expect(await titles(planner, root, { 'not[author_id]': other.userId })).toEqual(rest);
  expect(await titles(planner, root, { 'not[author_username]': otherName })).toEqual(rest);
  expect(answerOf(await as(planner).get(pathOf(root)).query({ author_id: 1, author_username: 'x' }))).toEqual([
    400,
    { error: 'author_id, author_username are mutually exclusive' },
  ]);
  const both = { 'not[author_id]': 1, 'not[author_username]': 'x' };
  expect(answerOf(await as(planner).get(pathOf(root)).query(both))).toEqual([
    400,
    { error: 'author_id, author_username are mutually exclusive' },
  ]);
  expect(answerOf(await as(planner).get(pathOf(root)).query({ 'not[author_id]': 'x' }))).toEqual([
    400,
    { error: 'not[author_id] is invalid' },
  ]);
});

it.each<[object, string[]]>([
  [{ sort: 'asc' }, ['root', 'Middle', 'hidden', 'leaf']],
  [{ order_by: 'updated_at' }, ['leaf', 'Middle', 'hidden', 'root']],
  [{ order_by: 'title', sort: 'asc' }, ['hidden', 'leaf', 'Middle', 'root']],
  [{ order_by: 'title' }, ['root', 'Middle', 'leaf', 'hidden']],
])('%j sorts the epics', async (order, expected) => {
  expect(await titles(planner, root, order)).toEqual(expected);
});

it.each([
  ['order_by', 'weight'],
  ['sort', 'up'],
  ['state', 'merged'],
])('refuses %s=%s', async (name, value) => {
  expect(
    answerOf(
      await as(planner)
        .get(pathOf(root))
        .query({ [name]: value }),
    ),
  ).toEqual([400, { error: `${name} does not have a valid value` }]);
});

describe('pages', () => {
  let many: DirectoryNamespace;
  let viewer: Viewer;
  beforeAll(async () => {
    many = await group();
    const below = await group({ parent: many });
    viewer = await standing(many, 'planner');
    for (let at = 0; at < 7; at++) await open(viewer, at % 2 ? many : below, { title: `Epic ${at}` });
  });
  registerListPagingTests(() => ({
    app: service.app,
    viewer: { ...viewer, directory: service.seed.anonymous().directory },
    path: pathOf(many),
    query: { state: 'opened', sort: 'asc' },
    rows: 7,
  }));
});
