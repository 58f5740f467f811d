import type { PresentContext } from '@rookery/api-v4';
import { Links } from '@rookery/platform';
import { DirectorySeed } from '@rookery/testing';
import type { TestDatabase } from '@rookery/testing';
import { userSummary, userSummarySql } from '../../src';
import { Copy } from '../copy';

describe('the summary of a person', () => {
  let database: TestDatabase;
  let seed: DirectorySeed;
  let copy: Copy;

  beforeAll(async () => {
    database = await Copy.database();
    seed = await DirectorySeed.open(database.url);
    copy = await Copy.start(database.url, 'http://127.0.0.1:9');
  });

  afterAll(async () => {
    await copy.stop();
    await seed.close();
    await database.drop();
  });

  it.each(['https://rookery.example', "https://rookery.example/it's/", 'http://localhost:8080'])(
    'is the same built by PostgreSQL and by the presenter, below %s',
    async (externalUrl) => {
      const people = [
        await seed.user({ name: 'Zoë "Z" O\'Neil \\ <b>' }),
        await seed.user({ avatar_url: '/uploads/-/system/user/avatar/1/me.png', public_email: 'me@mail.example' }),
        await seed.user({ avatar_url: 'https://pictures.example/1.png', state: 'blocked' }),
      ];
      const ids = people.map((person) => person.id);
      const rows = await copy.database.query<{ summary: unknown }>(
        `select ${userSummarySql('u', externalUrl)} as summary from unnest($1::bigint[]) as id
         left join directory_users u using (id) order by id`,
        [[...ids, 999_999]],
      );
      // Only what a presenter without loads asks for.
      const context = { links: new Links(externalUrl) } as unknown as PresentContext;
      const users = await copy.directory.users(ids);
      const presented = JSON.parse(
        await userSummary.array(
          ids.map((id) => users.get(id)!),
          context,
        ),
      ) as unknown[];
      expect(rows.map((row) => row.summary)).toEqual([...presented, null]);
      expect(Object.keys(presented[0] as object)).toEqual(Object.keys(rows[0]!.summary as object));
      const base = externalUrl.replace(/\/$/, '');
      expect(presented[1]).toMatchObject({
        avatar_url: `${base}/uploads/-/system/user/avatar/1/me.png`,
        web_url: `${base}/${people[1]!.username}`,
        public_email: 'me@mail.example',
        locked: false,
      });
    },
  );
});
