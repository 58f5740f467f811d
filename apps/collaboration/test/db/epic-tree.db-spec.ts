import type { DirectoryNamespace, DirectoryProject } from '@rookery/contracts';
import { groupDeleted, groupMoved } from '@rookery/contracts';
import { startNats } from '@rookery/testing';
import type { PrivateNats, SeededService, SeededUser } from '@rookery/testing';
import { startCollaboration } from '../support/app';
import { dayOf, daysOf, createTree } from '../support/epic-tree';
import type { TreeNode } from '../support/epic-tree';
import { epicPlaces } from '../support/epics';
import type { ShownEpic } from '../support/epics';
import { publish } from '../support/publish';
import { startWorker } from '../support/worker';
import type { Worker } from '../support/worker';

let service: SeededService;
let owner: SeededUser;
const { as, pathOf, group: groupOf, open } = epicPlaces(() => service);
beforeAll(async () => {
  service = await startCollaboration();
  owner = await service.seed.user();
});
afterAll(() => service.close());

const createUltimateGroup = (parent?: DirectoryNamespace) => groupOf({ plan: 'ultimate', ...(parent && { parent }) });
const addChildEpic = async (parent: ShownEpic, child: ShownEpic, place: DirectoryNamespace): Promise<void> =>
  void (await as(service.seed.viewer(owner))
    .post(`${pathOf(place)}/${parent.iid}/epics/${child.id}`)
    .expect(201));

describe('dates with more children than the limit', () => {
  const MOST_EPICS = 2_500;
  const MOST_ISSUES = 5_000;
  const values = `'E', '#fff', '#000', 0`;
  const columns = 'author_id, title, color, text_color, relative_position';

  it.each([
    ['epics', MOST_EPICS],
    ['issues', MOST_ISSUES],
  ])('use at most the nearest %s up to the limit', async (what, most) => {
    const place = await createUltimateGroup();
    const project = await service.seed.project({ namespace_id: place.id });
    await service.seed.member(owner, place, 'owner');
    const by = as(service.seed.viewer(owner));
    const top = await open(service.seed.viewer(owner), place);
    const sql = (text: string, ...sent: unknown[]) => service.database.query(text, sent);
    // Only the last one has a date. The epic itself counts towards the limit.
    const add = (from: number, to: number) =>
      what === 'epics'
        ? sql(
            `insert into epics (group_id, iid, parent_id, start_is_fixed, start_fixed_on, ${columns})
             select $1::bigint, g + 1, $2::bigint, g = ${MOST_EPICS - 1} or g = ${MOST_EPICS}, '2030-01-01'::date - g, $3::bigint, ${values}
             from generate_series($4::integer, $5::integer) g`,
            ...[place.id, top.id, owner.id, from, to],
          )
        : sql(
            `with m as (insert into milestones (project_id, iid, title, start_on)
               select $1::bigint, $4::bigint, 'v' || $4::bigint, '2030-01-01'::date - $5::integer returning id),
             i as (insert into issues (project_id, iid, author_id, title, milestone_id)
               select $1::bigint, g, $3::bigint, 'I', case when g = $5 then m.id end from m, generate_series($4::integer, $5::integer) g returning id)
             insert into epic_issues (epic_id, issue_id, relative_position) select $2::bigint, id, 0 from i`,
            ...[project.id, top.id, owner.id, from, to],
          );
    const start = async (): Promise<unknown> =>
      (await by.get(`${pathOf(place)}/${top.iid}`).expect(200)).body.start_date;
    const last = what === 'epics' ? most - 1 : most;
    await add(1, last);
    const day = new Date(Date.UTC(2030, 0, 1) - last * 86_400_000).toISOString().slice(0, 10);
    expect(await start()).toBe(day);
    await add(last + 1, last + 1);
    expect(await start()).toBe(day);
  });
});

describe('dates in a tree of 7 levels and 2,000 epics', () => {
  let place: DirectoryNamespace;
  let project: DirectoryProject;
  let nodes: TreeNode[];
  let guest: SeededUser;
  beforeAll(async () => {
    guest = await service.seed.user();
    place = await createUltimateGroup();
    project = await service.seed.project({ namespace_id: place.id });
    await service.seed.member(owner, place, 'owner');
    await service.seed.member(guest, place, 'guest');
    nodes = await createTree(service, place, project, { authorId: owner.id, count: 2000 });
  });

  const by = (user: SeededUser) => as(service.seed.viewer(user));
  /** Returns ten epics: the path to the last leaf, and three others. */
  const sampledNodes = (): TreeNode[] => {
    const chain: TreeNode[] = [];
    for (let node: TreeNode | null = nodes.at(-1)!; node; node = node.parent) chain.push(node);
    return [...chain, ...nodes.slice(1, 4)];
  };
  const right = async (person: SeededUser, reads: boolean): Promise<void> => {
    for (const node of sampledNodes().filter(({ confidential }) => reads || !confidential)) {
      const { body } = await by(person)
        .get(`${pathOf(place)}/${node.iid}`)
        .expect(200);
      const { start, due } = daysOf(node, reads);
      expect(body).toMatchObject({ iid: node.iid, start_date: start, due_date: due, end_date: due });
    }
    const { body } = await by(person).get(pathOf(place)).query({ sort: 'asc', order_by: 'created_at', per_page: 50 });
    const byIid = new Map(nodes.map((node) => [node.iid, node]));
    const shown = (body as { iid: number; start_date: string; due_date: string }[]).map(
      ({ iid, start_date, due_date }) => [iid, start_date, due_date],
    );
    expect(shown).toEqual(
      shown.map(([iid]) => {
        const { start, due } = daysOf(byIid.get(Number(iid))!, reads);
        return [iid, start, due];
      }),
    );
  };
  const both = async (): Promise<void> => {
    await right(owner, true);
    await right(guest, false);
  };

  it('are those of all descendants that the reader can see', async () => {
    expect(sampledNodes()).toHaveLength(10);
    await both();
  });

  it('follow every change of an epic, a milestone and an issue', async () => {
    const leaf = nodes.at(-1)!;
    const put = (node: TreeNode, fields: object) =>
      by(owner)
        .put(`${pathOf(place)}/${node.iid}`)
        .send(fields)
        .expect(200);
    await put(leaf, { start_date_is_fixed: true, start_date_fixed: '2001-01-01' });
    leaf.start = '2001-01-01';
    await both();
    await put(leaf.parent!, { start_date_is_fixed: true, start_date_fixed: '2030-01-01', due_date_is_fixed: false });
    Object.assign(leaf.parent!, { start: '2030-01-01', due: null });
    await both();
    await put(leaf.parent!, { start_date_is_fixed: false });
    leaf.parent!.start = null;
    await both();
    const planned = nodes.filter(({ milestone }) => milestone).at(-1)!.milestone!;
    const milestone = `/api/v4/projects/${project.id}/milestones/${planned.id}`;
    await by(owner).put(milestone).send({ due_date: '2060-01-01' }).expect(200);
    planned.due = '2060-01-01';
    await both();
    for (const count of [1, 2, 3]) {
      const node = nodes.at(-count * 7)!;
      const day = dayOf(count * 1000);
      await put(node, { due_date_is_fixed: true, due_date_fixed: day });
      node.due = day;
    }
    await both();
  });

  it('follow moved and deleted epics', async () => {
    const leaf = nodes.at(-2)!;
    const [from, to] = [leaf.parent!, nodes[2]!];
    await by(owner)
      .put(`${pathOf(place)}/${leaf.iid}`)
      .send({ due_date_is_fixed: true, due_date_fixed: '2070-01-01' });
    leaf.due = '2070-01-01';
    await addChildEpic(to as unknown as ShownEpic, leaf as unknown as ShownEpic, place);
    from.children.splice(from.children.indexOf(leaf), 1);
    to.children.push(leaf);
    Object.assign(leaf, { parent: to });
    await both();
    await by(owner)
      .delete(`${pathOf(place)}/${leaf.iid}`)
      .expect(204);
    to.children.pop();
    nodes.splice(nodes.indexOf(leaf), 1);
    await both();
  });
});

describe('moved and deleted groups', () => {
  let nats: PrivateNats;
  let worker: Worker;
  beforeEach(async () => {
    nats = await startNats();
    worker = await startWorker({ databaseUrl: service.databaseUrl, nats });
  });
  afterEach(async () => {
    await worker.stop();
    await nats.drop();
  });
  const parents = async (epics: readonly ShownEpic[]): Promise<unknown[]> => {
    await worker.drained();
    const rows = await service.database.query<{ parent_id: number | null }>(
      'select parent_id from epics where id = any($1) order by id',
      [epics.map(({ id }) => id)],
    );
    return rows.map((row) => row.parent_id);
  };

  it('parents and children in different hierarchies are separated, others are not', async () => {
    const [left, other] = [await createUltimateGroup(), await createUltimateGroup()];
    const moved = await createUltimateGroup(left);
    const deep = await createUltimateGroup(moved);
    for (const one of [left, other]) await service.seed.member(owner, one, 'owner');
    const viewer = service.seed.viewer(owner);
    const [top, bottom] = [await open(viewer, left), await open(viewer, left)];
    const [first, second] = [await open(viewer, moved), await open(viewer, deep)];
    await addChildEpic(top, first, left);
    await addChildEpic(first, second, moved);
    await addChildEpic(second, bottom, deep);
    const all = [top, bottom, first, second];
    expect(await parents(all)).toEqual([null, second.id, top.id, first.id]);
    await service.seed.put('namespaces', { ...moved, parent_id: other.id, traversal_ids: [other.id, moved.id] });
    await service.seed.put('namespaces', { ...deep, traversal_ids: [other.id, moved.id, deep.id] });
    await publish(nats, groupMoved.of({ aggregateId: moved.id, actorId: 1, data: { group_id: moved.id } }));
    expect(await parents(all)).toEqual([null, null, null, first.id]);
    expect(await service.database.query('select 1 from dead_letters')).toEqual([]);
  });

  it('children of epics of a deleted group stay in their own group', async () => {
    const place = await createUltimateGroup();
    const deletedGroup = await createUltimateGroup(place);
    await service.seed.member(owner, place, 'owner');
    const viewer = service.seed.viewer(owner);
    const [top, gone, stays] = [await open(viewer, place), await open(viewer, deletedGroup), await open(viewer, place)];
    await addChildEpic(top, gone, place);
    await addChildEpic(gone, stays, deletedGroup);
    await service.seed.remove('namespaces', deletedGroup.id);
    await publish(
      nats,
      groupDeleted.of({ aggregateId: deletedGroup.id, actorId: 1, data: { group_id: deletedGroup.id } }),
    );
    expect(await parents([top, gone, stays])).toEqual([null, null]);
    expect(await service.database.query('select 1 from dead_letters')).toEqual([]);
  });
});
