import { makeViewer, registerListPagingTests } from '@rookery/testing';
import { maker } from '../support/groups-and-projects';
import type { MadeGroup } from '../support/groups-and-projects';
import { startIdentity } from '../support/app';
import type { IdentityApp, Person } from '../support/app';

let identity: IdentityApp;
let ada: Person;
const { group, person } = maker(() => identity);
beforeAll(async () => {
  identity = await startIdentity();
  ada = await identity.person('ada');
});
afterAll(() => identity.close());

const inviteGroup = (guest: MadeGroup, into: MadeGroup) =>
  ada.client.post(`/api/v4/groups/${into.id}/share`).send({ group_id: guest.id, group_access: 20 }).expect(201);
const idsOf = (body: { id: number }[]) => body.map((row) => row.id);

describe.each([
  ['groups/shared', (guest: MadeGroup, host: MadeGroup) => [guest, host] as const],
  ['invited_groups', (guest: MadeGroup, host: MadeGroup) => [host, guest] as const],
] as const)('GET /groups/:id/%s', (list, asked) => {
  it('lists groups that the caller can see, by id and by encoded path', async () => {
    const [guest, host] = [await group(ada, { visibility: 'public' }), await group(ada, { visibility: 'public' })];
    await inviteGroup(guest, host);
    const [from, other] = asked(guest, host);
    const hidden = await group(ada, { visibility: 'private' });
    await (list === 'invited_groups' ? inviteGroup(hidden, host) : inviteGroup(guest, hidden));
    const stranger = await person();
    expect(idsOf((await stranger.client.get(`/api/v4/groups/${from.id}/${list}`)).body)).toEqual([other.id]);
    expect(
      idsOf((await identity.anonymous.get(`/api/v4/groups/${encodeURIComponent(from.full_path)}/${list}`)).body),
    ).toEqual([other.id]);
    const all = await identity.root.get(`/api/v4/groups/${from.id}/${list}`);
    expect(idsOf(all.body).sort((a, b) => a - b)).toEqual([other.id, hidden.id].sort((a, b) => a - b));
    expect(all.body[0]).toMatchObject({ web_url: expect.any(String), full_path: expect.any(String) });
  });

  it('is hidden with its group', async () => {
    const secret = await group(ada, { visibility: 'private' });
    for (const client of [identity.anonymous, (await person()).client])
      expect(await client.get(`/api/v4/groups/${secret.id}/${list}`)).toMatchObject({
        status: 404,
        body: { message: '404 Group Not Found' },
      });
  });

  describe('in pages', () => {
    let path: string;
    beforeAll(async () => {
      const center = await group(ada);
      path = `/api/v4/groups/${center.id}/${list}`;
      for (let i = 0; i < 5; i++) {
        const one = await group(ada);
        await (list === 'invited_groups' ? inviteGroup(one, center) : inviteGroup(center, one));
      }
    });
    registerListPagingTests(() => ({
      app: identity.app,
      viewer: makeViewer({ userId: ada.id, username: 'ada' }),
      path,
      rows: 5,
    }));
  });
});
