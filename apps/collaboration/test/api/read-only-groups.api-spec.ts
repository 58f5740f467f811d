import type { DirectoryNamespace } from '@rookery/contracts';
import type { SeededService } from '@rookery/testing';
import { castOf, startCollaboration } from '../support/app';
import type { Cast } from '../support/app';

let service: SeededService;
let group: DirectoryNamespace;
let cast: Cast;
let epic: { readonly id: number; readonly iid: number };
let labelId: number;
let milestoneId: number;
let noteId: number;

const as = (name: keyof Cast) => service.app.as(service.seed.viewer(cast[name]));
const groupPath = (tail: string): string => `/api/v4/groups/${group.id}${tail}`;
const made = async (path: string, fields: object): Promise<{ readonly id: number; readonly iid: number }> =>
  (await as('owner').post(groupPath(path)).send(fields).expect(201)).body as { id: number; iid: number };

beforeAll(async () => {
  service = await startCollaboration();
  const parent = await service.seed.group({ plan: 'ultimate' });
  group = await service.seed.group({ parent, plan: 'ultimate' });
  cast = await castOf(service.seed, group);
  epic = await made('/epics', { title: 'A goal' });
  ({ id: noteId } = await made(`/epics/${epic.id}/notes`, { body: 'before' }));
  ({ id: labelId } = await made('/labels', { name: 'old', color: '#112233' }));
  ({ id: milestoneId } = await made('/milestones', { title: 'v1' }));
  // Identity publishes this of groups that are marked for deletion, and of groups below them.
  await service.seed.put('namespaces', { ...group, archived: true });
});
afterAll(() => service.close());

type Method = 'post' | 'put' | 'delete';
const listWrites = (): readonly (readonly [Method, string, object])[] => [
  ['post', '/epics', { title: 'Another' }],
  ['put', `/epics/${epic.iid}`, { title: 'Renamed' }],
  ['delete', `/epics/${epic.iid}`, {}],
  ['post', `/epics/${epic.id}/notes`, { body: 'after' }],
  ['put', `/epics/${epic.id}/notes/${noteId}`, { body: 'changed' }],
  ['delete', `/epics/${epic.id}/notes/${noteId}`, {}],
  ['post', `/epics/${epic.id}/discussions`, { body: 'after' }],
  ['post', `/epics/${epic.iid}/epics`, { title: 'A child' }],
  ['post', '/labels', { name: 'new', color: '#112233' }],
  ['put', `/labels/${labelId}`, { new_name: 'newer' }],
  ['delete', `/labels/${labelId}`, {}],
  ['post', '/milestones', { title: 'v2' }],
  ['put', `/milestones/${milestoneId}`, { title: 'v3' }],
  ['delete', `/milestones/${milestoneId}`, {}],
];

/** The contents of a group that is marked for deletion, or below a marked one, take no writes. */
test.each(['owner', 'admin'] as const)('all writes of the role %s are refused', async (role) => {
  for (const [method, path, fields] of listWrites()) {
    const { status, body } = await as(role)[method](groupPath(path)).send(fields);
    expect([method, path, status, body]).toEqual([method, path, 403, { message: '403 Forbidden' }]);
  }
});

test('reads are answered as before', async () => {
  const reads = ['/epics', `/epics/${epic.iid}`, `/epics/${epic.id}/notes`, '/labels', '/milestones'];
  for (const path of reads) await as('guest').get(groupPath(path)).expect(200);
});

test('writes are taken again without the mark', async () => {
  await service.seed.put('namespaces', group);
  await as('owner')
    .put(groupPath(`/epics/${epic.iid}`))
    .send({ title: 'Renamed' })
    .expect(200);
  await as('owner').post(groupPath('/labels')).send({ name: 'new', color: '#112233' }).expect(201);
});
