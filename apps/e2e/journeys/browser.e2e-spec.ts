import { RemoteHost } from '@rookery/testing';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { accessibilityProblems, DESK, isTooWide, PHONE, startBrowser } from '../support/browser';
import { addMember, call, estate, eventually, mailTo, person, projectOf } from '../support/estate';
import type { Person } from '../support/estate';

/**
 * The pages in a real browser: the steps of a person who follows the link of an e-mail. Source: reference pages 2, 3.
 */
let browser: Browser;
let owner: Person;
let reader: Person;
let project: { readonly id: number; readonly group: number; readonly path: string };
let context: BrowserContext;
let page: Page;
const problems: string[] = [];

const as = async (method: string, path: string, json?: object, by = owner) => {
  const answer = await call(method, `/projects/${project.id}${path}`, { token: by.token, ...(json ? { json } : {}) });
  if (answer.status >= 400) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`);
  return answer.body;
};
const local = (url: string): string => `${estate.baseUrl}${new URL(url).pathname}`;

beforeAll(async () => {
  browser = await startBrowser();
  [owner, reader] = await Promise.all([person('browser-owner'), person('browser-reader')]);
  project = await projectOf(owner, 'browser');
  await addMember(project.id, reader, 30, owner);
  const files = (content: string, action: string) => [{ action, file_path: 'README.md', content }];
  await as('POST', '/repository/commits', {
    ...{ branch: 'main', commit_message: 'First', actions: files('# Eggs\n\nold\n', 'create') },
  });
  await as('POST', '/repository/commits', {
    ...{ branch: 'topic', start_branch: 'main', commit_message: 'Second' },
    actions: files('# Eggs\n\nnew\n', 'update'),
  });
});
beforeEach(async () => {
  context = await browser.newContext({ viewport: DESK });
  page = await context.newPage();
  page.on('console', (message) => {
    if (message.type() === 'error') problems.push(message.text());
  });
});
afterEach(async () => {
  await context.close();
  // The policy of the pages refused nothing that they need.
  expect(problems.splice(0).filter((text) => text.includes('Content Security Policy'))).toEqual([]);
});
afterAll(() => browser?.close());

async function signIn(by: Person): Promise<void> {
  if (!page.url().includes('/-/sign_in')) await page.goto(`${estate.baseUrl}/-/sign_in`);
  await page.getByLabel('Personal access token').fill(by.token);
  await page.getByRole('button', { name: 'Sign in' }).click();
}

test('from the link of an e-mail through signing in to a comment, and out of the notifications', async () => {
  const issue = await as('POST', '/issues', { title: 'The nest leaks', assignee_ids: [reader.id] });
  const [mail] = await eventually(
    async () => (await mailTo(reader.email)).filter(({ subject }) => subject?.includes('The nest leaks')),
    (mails) => mails.length > 0,
  );
  const address = new RegExp(`https?://\\S+/-/issues/${issue.iid}`).exec(mail!.text!)![0];
  await page.goto(local(address));
  await signIn(reader);
  await page.getByRole('heading', { level: 1, name: 'The nest leaks' }).waitFor();
  await page.getByLabel('Comment, in Markdown').fill('It **drips**');
  await page.getByRole('button', { name: 'Comment' }).click();
  expect(await page.locator('article.note strong').textContent()).toBe('drips');
  expect(await as('GET', `/issues/${issue.iid}/notes`)).toMatchObject([{ body: 'It **drips**' }]);

  const unsubscribe = /https?:\/\/\S+\/unsubscribe/.exec(mail!.text!)![0];
  await page.goto(local(unsubscribe));
  await page.getByRole('button').click();
  await page.getByText('unsubscribed', { exact: false }).first().waitFor();
  expect(await as('GET', `/issues/${issue.iid}`, undefined, reader)).toMatchObject({ subscribed: false });
});

test('a to-do item is marked as done, a suggestion in the diff applied, and a level of notifications chosen', async () => {
  const request = await as('POST', '/merge_requests', {
    ...{ source_branch: 'topic', target_branch: 'main', title: 'A change', assignee_ids: [reader.id] },
  });
  const position = {
    ...request.diff_refs,
    ...{ position_type: 'text', new_path: 'README.md', old_path: 'README.md', new_line: 3 },
  };
  const body = 'Better:\n```suggestion\nnewer\n```';
  await as('POST', `/merge_requests/${request.iid}/discussions`, { body, position });
  await as('POST', '/issues', { title: 'A question', assignee_ids: [reader.id] });
  for (const title of ['A change', 'A question'])
    await eventually(
      () => call('GET', '/todos', { token: reader.token }),
      (todos) => todos.body.some((one: { target: { title: string } }) => one.target.title === title),
    );

  await signIn(reader);
  await page.getByRole('link', { name: 'A change' }).click();
  await page.getByRole('link', { name: 'Changes' }).click();
  await page.getByRole('button', { name: 'Apply suggestion' }).click();
  await page.getByText('The suggestion is applied.').waitFor();
  expect((await as('GET', '/repository/files/README.md?ref=topic')).content).toBe(
    Buffer.from('# Eggs\n\nnewer\n').toString('base64'),
  );

  await page.getByRole('link', { name: 'To-do items' }).click();
  await page.getByRole('listitem').filter({ hasText: 'A question' }).getByRole('button', { name: 'Done' }).click();
  await page.waitForLoadState();
  expect(await page.getByRole('link', { name: 'A question' }).count()).toBe(0);
  // The suggestion was a push of the reader, which ends their to-do items about the merge request.
  expect(await page.getByRole('link', { name: 'A change' }).count()).toBe(0);

  await page.getByRole('link', { name: 'Notifications' }).click();
  await page.getByLabel('the events that you choose').check();
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByLabel('new note').check();
  await page.getByRole('button', { name: 'Save' }).click();
  expect(await page.getByLabel('new note').isChecked()).toBe(true);
  expect((await call('GET', '/notification_settings', { token: reader.token })).body).toMatchObject({
    level: 'custom',
    events: { new_note: true, new_issue: false, failed_pipeline: true },
  });
  await page.goto(`${estate.baseUrl}/${project.path}/-/notifications`);
  await page.getByLabel('Nothing').check();
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Your setting is saved.').waitFor();
  const ofProject = await as('GET', '/notification_settings', undefined, reader);
  expect(ofProject).toMatchObject({ level: 'disabled' });
});

test('a session is ended in another browser', async () => {
  await signIn(reader);
  const other = await browser.newContext();
  const there = await other.newPage();
  await there.goto(`${estate.baseUrl}/-/sign_in`);
  await there.getByLabel('Personal access token').fill(reader.token);
  await there.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('link', { name: 'Sessions' }).click();
  const here = page.getByRole('listitem').filter({ hasText: 'this browser' });
  expect(await here.count()).toBe(1);
  // Sessions of other tests of this person may be in the list; the newest of the others is that of the other browser.
  await page.getByRole('button', { name: 'End this session' }).first().click();
  await page.waitForLoadState();
  await there.goto(`${estate.baseUrl}/-/todos`);
  expect(new URL(there.url()).pathname).toBe('/-/sign_in');
  await page.getByRole('link', { name: 'To-do items' }).click();
  expect(new URL(page.url()).pathname).toBe('/-/todos');
  await other.close();
});

test('an import is watched until it has finished', async () => {
  const host = await RemoteHost.start(estate.upstreamPort);
  try {
    const { id } = await host.add('bittern');
    const source = { repo_id: id, personal_access_token: host.token, github_hostname: host.url };
    const target = { target_namespace: owner.username, new_name: 'bittern' };
    const { body } = await call('POST', '/import/github', { token: owner.token, json: { ...source, ...target } });
    await signIn(owner);
    await page.goto(`${estate.baseUrl}/${owner.username}/bittern/-/import`);
    // The page loads itself again.
    await page.locator('.state', { hasText: 'finished' }).waitFor({ timeout: 60_000 });
    expect(await page.getByRole('rowheader', { name: 'issue', exact: true }).count()).toBe(1);
    await page.goto(`${estate.baseUrl}/${owner.username}/bittern`);
    expect(await page.getByText('is being imported').count()).toBe(0);
    expect(body.import_status).toBe('scheduled');
  } finally {
    await host.stop();
  }
});

test('the page of the API shows all operations and sends a request with a token', async () => {
  // The document is large, and a busy machine takes its time to show it.
  page.setDefaultTimeout(90_000);
  await page.goto(`${estate.baseUrl}/-/docs`);
  await page.getByRole('button', { name: 'Authorize' }).first().click();
  const form = page.locator('.auth-container', { hasText: 'PRIVATE-TOKEN' });
  await form.locator('input').fill(owner.token);
  await form.getByRole('button', { name: 'Apply credentials' }).click();
  await form.getByRole('button', { name: 'Close' }).click();
  await page.getByPlaceholder('Filter by tag').fill('About');
  await page.locator('.opblock-tag', { hasText: 'About' }).click();
  const operation = page.locator('[id$="getVersion"]');
  await operation.locator('.opblock-summary-control').click();
  await operation.getByRole('button', { name: 'Execute' }).click();
  const answer = operation.locator('.live-responses-table');
  await answer.getByText('200').first().waitFor();
  expect(await answer.innerText()).toContain('18.1.1-ee');

  const background = () => page.evaluate('getComputedStyle(document.documentElement).backgroundColor');
  const light = await background();
  await page.emulateMedia({ colorScheme: 'dark' });
  await page.locator('html.dark-mode').waitFor();
  expect(await background()).not.toBe(light);
});

test('the page of the events has no accessibility problem, and opens a sample', async () => {
  await page.goto(`${estate.baseUrl}/-/docs/events`);
  await page.getByText('collaboration.note.created.v1').first().click();
  expect(await page.locator('details[open] pre').innerText()).toContain('rookery.collaboration.note.created.v1');
  expect(await accessibilityProblems(page)).toEqual([]);
  await page.setViewportSize(PHONE);
  expect(await isTooWide(page)).toBe(false);
});

describe('every kind of page', () => {
  let paths: string[];
  beforeAll(async () => {
    const issue = await as('POST', '/issues', { title: 'Twenty notes', labels: 'one,two', due_date: '2030-01-01' });
    for (let at = 0; at < 20; at += 1) await as('POST', `/issues/${issue.iid}/notes`, { body: `Note *${at}*` });
    const [request] = await as('GET', '/merge_requests?state=all');
    const snippet = await as('POST', '/snippets', {
      ...{ title: 'S', visibility: 'private', files: [{ file_path: 'a.txt', content: 'words' }] },
    });
    const uploaded = await fetch(`${estate.baseUrl}/api/v4/projects/${project.id}/packages/generic/app/1.0/a.txt`, {
      method: 'PUT',
      headers: { 'private-token': owner.token },
      body: 'x',
    });
    expect(uploaded.status).toBe(201);
    const [shown] = await as('GET', '/packages');
    const below = `/${project.path}/-`;
    paths = [
      ...[
        '/',
        '/-/projects',
        '/-/todos',
        '/-/profile/notifications',
        '/-/profile/sessions',
        `/${owner.username}`,
        `/${project.path}`,
      ],
      ...[`/${project.path.split('/')[0]}`, `${below}/issues`, `${below}/issues/${issue.iid}`, `${below}/packages`],
      ...[`${below}/merge_requests/${request.iid}`, `${below}/merge_requests/${request.iid}/diffs`],
      ...[`${below}/snippets/${snippet.id}`, `${below}/tree/main`, `${below}/blob/main/README.md`, `${below}/import`],
      ...[`${below}/commits/main`, `${below}/packages/${shown.id}`, `${below}/notifications`, `/absent-${project.id}`],
    ];
  });

  test.each(['light', 'dark'] as const)(
    'has no accessibility problem in %s, and fits on a phone and a desk',
    async (colorScheme) => {
      await page.emulateMedia({ colorScheme });
      await signIn(owner);
      const found: Record<string, readonly string[]> = {};
      for (const path of ['/-/sign_in', ...paths]) {
        await page.setViewportSize(PHONE);
        await page.goto(`${estate.baseUrl}${path}`);
        const wide = (await isTooWide(page)) ? ['too wide for a phone'] : [];
        await page.setViewportSize(DESK);
        const all = [...wide, ...(await accessibilityProblems(page))];
        if (all.length > 0) found[path] = all;
      }
      expect(found).toEqual({});
    },
  );

  test('of 20 notes has at most 60 KB', async () => {
    await signIn(owner);
    const path = paths.find((one) => /\/-\/issues\/\d+$/.test(one))!;
    const answer = await page.goto(`${estate.baseUrl}${path}`);
    expect((await answer!.body()).length).toBeLessThan(60_000);
    expect(await page.locator('article.note').count()).toBe(20);
  });
});
