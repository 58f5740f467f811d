import type { PresentContext } from '@rookery/api-v4';
import { Directory, userSummary } from '@rookery/directory';
import { Links } from '@rookery/platform';
import type { SeededService } from '@rookery/testing';
import { personShape } from '../../src/base/noteables/person.shape';
import { startCollaboration } from '../support/app';

let service: SeededService;
beforeAll(async () => {
  service = await startCollaboration();
});
afterAll(() => service.close());

it.each(['https://rookery.example', "https://rookery.example/it's/", 'http://localhost:8080'])(
  'a user summary is the same from PostgreSQL and from the presenter, with the base URL %s',
  async (externalUrl) => {
    const { seed, database } = service;
    const people = [
      await seed.user({ name: 'Zoë "Z" O\'Neil \\ <b>' }),
      await seed.user({ avatar_url: '/uploads/-/system/user/avatar/1/me.png', public_email: 'me@mail.example' }),
      await seed.user({ avatar_url: 'https://pictures.example/1.png', state: 'blocked' }),
    ];
    const ids = people.map((person) => person.id);
    const rows = await database.query<{ summary: unknown }>(
      `select (${personShape.toSql({ user: 'u', externalUrl }).sql})::json as summary
       from directory_users u where u.id = any($1::bigint[]) order by u.id`,
      [ids],
    );
    // Only the fields of a presenter without loaded relations.
    const context = { links: new Links(externalUrl) } as unknown as PresentContext;
    const users = await service.app.get(Directory).findUsers(ids);
    const presented = JSON.parse(
      await userSummary.renderList(
        ids.map((id) => users.get(id)!),
        context,
      ),
    ) as unknown[];
    expect(rows.map((row) => row.summary)).toEqual(presented);
    expect(Object.keys(rows[0]!.summary as object)).toEqual(Object.keys(presented[0] as object));
    const base = externalUrl.replace(/\/$/, '');
    expect(presented[1]).toMatchObject({
      avatar_url: `${base}/uploads/-/system/user/avatar/1/me.png`,
      web_url: `${base}/${people[1]!.username}`,
      public_email: 'me@mail.example',
      locked: false,
    });
  },
);
