import type { DirectoryProject } from '@rookery/contracts';
import type { SeededService, SeededUser } from '@rookery/testing';
import { castOf, startCollaboration } from '../support/app';
import type { Cast } from '../support/app';
import { issueActions } from '../support/issue-actions';
import { mailbox } from '../support/mailbox';

/**
 * Rights that end between an event and its effects: no to-do, entry of a feed, e-mail, title or text reaches a user who lost
 * them. Source: reference work-tracking 6.3, 7.7, 8.3; ADR 0171.
 */
let service: SeededService;
let project: DirectoryProject;
let cast: Cast;
/** Users who are affected by the change, and a reporter who is not. */
let former: SeededUser;
const box = mailbox(() => service);
const { anIssue, comment, edit } = issueActions(() => ({ service, project, cast }));

beforeAll(async () => {
  service = await startCollaboration();
  await box.start();
});
afterAll(async () => {
  await box.stop();
  await service.close();
});
beforeEach(async () => {
  project = await service.seed.project();
  cast = await castOf(service.seed, project);
  former = await service.seed.user();
});

const SECRET = 'the-hidden-nest';
const mentionOf = (user: SeededUser) => `@${user.username}`;
const as = (user: SeededUser) => service.app.as(service.seed.viewer(user));
const query = (sql: string, values: readonly unknown[] = []) => service.database.query(sql, values);

/** Everything that a user is shown: to-dos, feeds and e-mails. */
async function countReceivedSecrets(user: SeededUser) {
  const feeds = ['/api/v4/events?scope=all', `/api/v4/users/${cast.owner.id}/events`];
  const texts: string[] = [];
  for (const path of ['/api/v4/todos', ...feeds]) {
    const { body, status } = await as(user).get(path);
    if (status === 200) texts.push(...(body as object[]).map((row) => JSON.stringify(row)));
  }
  const mails = box.mails().filter(({ to }) => to === user.notification_email);
  return { shown: texts.filter((text) => text.includes(SECRET)).length, mails: mails.length };
}

type Issue = { readonly iid: number };
const CHANGES: [string, (issue: Issue) => Promise<unknown>, 'member' | 'guest' | 'stranger'][] = [
  ['the issue became confidential, for a guest', (issue) => edit(issue, { confidential: true }), 'guest'],
  [
    'the project became private, for a stranger',
    () => service.seed.put('projects', { ...project, visibility: 'private' }),
    'stranger',
  ],
  [
    'the member was removed from a private project',
    async () => {
      await service.seed.put('projects', { ...project, visibility: 'private' });
      await query('delete from directory_memberships where user_id = $1', [former.id]);
    },
    'member',
  ],
  [
    'the user was blocked',
    () => query(`update directory_users set state = 'blocked' where id = $1`, [former.id]),
    'member',
  ],
  [
    'the issues of the project were disabled',
    () => service.seed.put('projects', { ...project, issues_access_level: 'disabled' }),
    'member',
  ],
];

test.each(CHANGES)('%s', async (title, change, relation) => {
  if (relation !== 'stranger') await service.seed.member(former, project, relation === 'guest' ? 'guest' : 'reporter');
  const issue = await box.effectsAfterChange(async () => {
    const made = await anIssue({
      title: `About ${SECRET}`,
      description: `${SECRET}: see ${mentionOf(former)}, ${mentionOf(cast.reporter)}`,
    });
    await comment(made, `${SECRET} again, ${mentionOf(former)}, ${mentionOf(cast.reporter)}`);
    return made;
  }, change);
  expect(issue.iid).toBeGreaterThan(0);
  expect(await countReceivedSecrets(former)).toEqual({ shown: 0, mails: 0 });
  if (title.includes('disabled')) return;
  const kept = await countReceivedSecrets(cast.reporter);
  expect(kept.mails).toBe(2);
  expect(kept.shown).toBeGreaterThanOrEqual(4);
});

test('an internal note does not reach a reporter who became a guest', async () => {
  const member = await service.seed.member(former, project, 'reporter');
  const made = await anIssue({ title: 'A title' });
  await box.effectsAfterChange(
    () => comment(made, `${SECRET}, ${mentionOf(former)}, ${mentionOf(cast.reporter)}`, cast.owner, { internal: true }),
    () => query('update directory_memberships set access_level = 10 where id = $1', [member.id]),
  );
  expect(await countReceivedSecrets(former)).toEqual({ shown: 0, mails: 0 });
  expect((await countReceivedSecrets(cast.reporter)).mails).toBe(1);
});
