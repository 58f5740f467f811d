import { Work } from '@rookery/persistence';
import { untilBlocked } from '@rookery/testing';
import { maker } from '../support/groups-and-projects';
import { startIdentity } from '../support/app';
import type { IdentityApp, Person } from '../support/app';

let identity: IdentityApp;
let ada: Person;
const { group } = maker(() => identity);
beforeAll(async () => {
  identity = await startIdentity();
  ada = await identity.person('ada');
});
afterAll(() => identity.close());

interface NamespaceTreeRow {
  readonly id: number;
  readonly parent_id: number | null;
  readonly path: string;
  readonly full_path: string;
  readonly traversal_ids: number[];
}
/** Checks that every group has the ids and the path that follow from its parent. */
async function findInconsistentRows(): Promise<unknown[]> {
  return identity.db.query<NamespaceTreeRow>(
    `select n.id, n.full_path, n.traversal_ids from namespaces n left join namespaces p on p.id = n.parent_id
     where n.traversal_ids <> coalesce(p.traversal_ids, '{}') || n.id
       or n.full_path <> coalesce(p.full_path || '/', '') || n.path`,
  );
}
const transferGroup = (from: { id: number }, group_id: number | null) =>
  ada.client.post(`/api/v4/groups/${from.id}/transfer`).send({ group_id });

describe('concurrent moves of groups', () => {
  it('do not put groups below each other', async () => {
    for (let round = 0; round < 8; round++) {
      const [one, two] = [await group(ada), await group(ada)];
      const answers = await Promise.all([transferGroup(one, two.id), transferGroup(two, one.id)]);
      expect(answers.map(({ status }) => status).sort()).toEqual([201, 400]);
    }
    expect(await findInconsistentRows()).toEqual([]);
  });

  it('include children that are created meanwhile, and tolerate new projects and renames', async () => {
    for (let round = 0; round < 6; round++) {
      const [top, target] = [await group(ada), await group(ada)];
      const child = await group(ada, { parent_id: top.id });
      const answers = await Promise.all([
        ...Array.from({ length: 4 }, (_, n) =>
          ada.client.post('/api/v4/groups').send({ name: `n${n}`, path: `n${n}`, parent_id: child.id }),
        ),
        transferGroup(top, target.id),
        ada.client.put(`/api/v4/groups/${target.id}`).send({ path: `${target.path}-renamed` }),
        ada.client.post('/api/v4/projects').send({ name: 'inside', namespace_id: child.id }),
      ]);
      expect(answers.map(({ status }) => status)).toEqual([201, 201, 201, 201, 201, 200, 201]);
    }
    expect(await findInconsistentRows()).toEqual([]);
  });
});

it('a rename waits for a child that is being created, and includes it', async () => {
  const top = await group(ada);
  const child = await group(ada, { parent_id: top.id });
  let renamed: Promise<{ status: number }> | undefined;
  await identity.app.get(Work).run(async (tx) => {
    // The statements that create a group below `child`, with time for a rename in between.
    const [parent] = await tx.query<NamespaceTreeRow>(`select * from namespaces where id = $1 for share`, [child.id]);
    // Only `then` sends the request.
    renamed = ada.client
      .put(`/api/v4/groups/${top.id}`)
      .send({ path: `${top.path}-new` })
      .then();
    await untilBlocked((sql) => identity.db.query(sql));
    const [{ id }] = (await tx.query(`select nextval(pg_get_serial_sequence('namespaces', 'id')) as id`)) as [
      { id: number },
    ];
    await tx.query(
      `insert into namespaces (id, kind, parent_id, traversal_ids, name, path, full_name, full_path, visibility, plan)
       values ($1, 'group', $2, $3, 'late', 'late', 'late', $4, 'private', 'ultimate')`,
      [id, parent!.id, [...parent!.traversal_ids, id], `${parent!.full_path}/late`],
    );
  });
  expect((await renamed!).status).toBe(200);
  expect(await findInconsistentRows()).toEqual([]);
});
