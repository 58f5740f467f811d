import { call, estate, person, projectOf } from '../support/estate';
import type { Person } from '../support/estate';

/** Web pages of a running estate: what links of mails and `web_url`s open. Source: reference pages 3. */
const HOSTILE = [
  '<script>alert(1)</script>',
  '"><img src=x onerror=alert(1)>',
  '[x](javascript:alert(1))',
  '![x](javascript:alert(1))',
  '<svg/onload=alert(1)>',
  "' autofocus onfocus=alert(1) x='",
  '</title></textarea></pre><iframe src=//evil.test>',
  '[x](data:text/html;base64,PHNjcmlwdD4=)',
];

let owner: Person;
let project: { readonly id: number; readonly path: string };
let cookie: string;

interface Shown {
  readonly status: number;
  readonly location: string | null;
  readonly text: string;
}
async function open(path: string, o: { as?: string | null; form?: Record<string, string> } = {}): Promise<Shown> {
  const used = o.as === undefined ? cookie : o.as;
  const answer = await fetch(`${estate.baseUrl}${path}`, {
    redirect: 'manual',
    headers: { accept: 'text/html', ...(used === null ? {} : { cookie: used }) },
    ...(o.form ? { method: 'POST', body: new URLSearchParams(o.form) } : {}),
  });
  return { status: answer.status, location: answer.headers.get('location'), text: await answer.text() };
}
async function signedIn(token: string): Promise<string> {
  const answer = await fetch(`${estate.baseUrl}/-/sign_in`, {
    redirect: 'manual',
    method: 'POST',
    body: new URLSearchParams({ token }),
  });
  expect(answer.status).toBe(303);
  return answer.headers.get('set-cookie')!.split(';')[0]!;
}
async function submit(path: string, fields: Record<string, string>): Promise<Shown> {
  const [, form_token] = /name="form_token" value="([^"]+)"/.exec((await open(path)).text)!;
  return open(path, { form: { form_token: form_token!, ...fields } });
}
const as = (method: string, path: string, json?: object) =>
  call(method, `/projects/${project.id}${path}`, { token: owner.token, ...(json ? { json } : {}) });
const pathOf = (url: string): string => new URL(url).pathname;

beforeAll(async () => {
  owner = await person('reader');
  project = await projectOf(owner, 'pages');
  cookie = await signedIn(owner.token);
  const actions = [{ action: 'create', file_path: 'README.md', content: '# Pages\n\nold\n' }];
  await as('POST', '/repository/commits', { branch: 'main', commit_message: 'First', actions });
});

test('a person follows the link of an issue, comments, and closes it', async () => {
  const { body } = await as('POST', '/issues', { title: 'A leak', description: 'It **drips**' });
  const path = pathOf(body.web_url);
  const page = await open(path);
  expect([page.status, page.text]).toEqual([200, expect.stringContaining('<strong>drips</strong>')]);
  expect((await submit(path, { act: 'comment', body: 'I see it' })).location).toBe(path);
  expect((await open(path)).text).toContain('I see it');
  await submit(path, { act: 'close' });
  expect((await as('GET', `/issues/${body.iid}`)).body).toMatchObject({ state: 'closed', user_notes_count: 1 });
  expect((await open(path, { as: null })).location).toBe(`/-/sign_in?next=${encodeURIComponent(path)}`);
});

test('a suggestion is applied and its thread resolved', async () => {
  const actions = [{ action: 'update', file_path: 'README.md', content: '# Pages\n\nnew\n' }];
  await as('POST', '/repository/commits', { branch: 'topic', start_branch: 'main', commit_message: 'Second', actions });
  const opened = await as('POST', '/merge_requests', {
    source_branch: 'topic',
    target_branch: 'main',
    title: 'A change',
  });
  const path = pathOf(opened.body.web_url);
  expect((await open(`${path}/diffs`)).text).toContain('<span class="add">+new</span>');
  const position = {
    ...opened.body.diff_refs,
    position_type: 'text',
    new_path: 'README.md',
    old_path: 'README.md',
    new_line: 3,
  };
  const thread = { body: 'Better:\n```suggestion\nnewer\n```', position };
  const { body } = await as('POST', `/merge_requests/${opened.body.iid}/discussions`, thread);
  const [, suggestion] = /name="suggestion_id" value="(\d+)"/.exec((await open(path)).text)!;
  expect((await submit(path, { act: 'apply', suggestion_id: suggestion! })).location).toBe(path);
  const raw = await fetch(`${estate.baseUrl}/api/v4/projects/${project.id}/repository/files/README.md/raw?ref=topic`, {
    headers: { 'private-token': owner.token },
  });
  expect(await raw.text()).toBe('# Pages\n\nnewer\n');
  expect((await as('GET', `/merge_requests/${opened.body.iid}/discussions/${body.id}`)).body.notes[0].resolved).toBe(
    true,
  );
});

test('a to-do item leads to its page and is marked as done', async () => {
  const { body } = await as('POST', '/issues', { title: 'To be done' });
  await as('POST', `/issues/${body.iid}/todo`);
  const page = await open('/-/todos');
  expect(page.text).toContain(pathOf(body.web_url));
  const [, todo] = /name="todo_id" value="(\d+)"/.exec(page.text)!;
  expect((await submit('/-/todos', { todo_id: todo! })).location).toBe('/-/todos');
  expect((await open('/-/todos')).text).not.toContain('To be done');
});

test('every address that the API names opens a page', async () => {
  const milestone = await as('POST', '/milestones', { title: 'M' });
  await as('POST', '/repository/tags', { tag_name: 'v1', ref: 'main' });
  await as('POST', '/releases', { tag_name: 'v1', description: 'One' });
  const snippet = await as('POST', '/snippets', {
    title: 'S',
    visibility: 'private',
    files: [{ file_path: 'a.txt', content: 'words' }],
  });
  const [commit] = (await as('GET', '/repository/commits')).body;
  const branch = await as('GET', '/repository/branches/main');
  const addresses = [milestone.body, snippet.body, commit, branch.body, (await as('GET', '')).body].map((one) =>
    pathOf(one.web_url),
  );
  const others = [
    '/',
    '/-/projects',
    `/${owner.username}`,
    `/${project.path}/-/releases/v1`,
    `/${project.path}/-/blob/main/README.md`,
    `/${project.path}/-/commits/main`,
    `/${project.path}/-/packages`,
  ];
  const statuses = await Promise.all([...addresses, ...others].map(async (path) => [path, (await open(path)).status]));
  expect(statuses).toEqual([...addresses, ...others].map((path) => [path, 200]));
});

test('text of people is never markup', async () => {
  const title = HOSTILE.join(' ').slice(0, 255);
  const { body } = await as('POST', '/issues', { title, description: HOSTILE.join('\n\n'), labels: '<b>label' });
  await as('POST', `/issues/${body.iid}/notes`, { body: HOSTILE.join('\n\n') });
  await as('PUT', '', { description: HOSTILE.join('\n\n') });
  const file = [{ action: 'create', file_path: '<img src=x>.md', content: HOSTILE.join('\n\n') }];
  await as('POST', '/repository/commits', { branch: 'main', commit_message: HOSTILE.join('\n'), actions: file });
  const list = `/${project.path}/-`;
  const paths = [
    pathOf(body.web_url),
    `/${project.path}`,
    `${list}/issues`,
    `${list}/commits/main`,
    `${list}/tree/main`,
    `${list}/blob/main/%3Cimg%20src=x%3E.md`,
  ];
  for (const path of paths) {
    const { status, text } = await open(path);
    expect([path, status]).toEqual([path, 200]);
    expect(text).not.toMatch(/<(script|iframe|svg|img|b>label)/i);
    expect(text).not.toMatch(/href="(javascript|data):/i);
    expect(text).not.toMatch(/<[^>]*\son\w+=/i);
    expect(text.match(/<main/g)).toHaveLength(1);
    expect(text.match(/<\/title>/g)).toHaveLength(1);
  }
});

test('what strangers may not see looks as what does not exist, for every kind of page', async () => {
  const other = await person('outsider');
  const otherCookie = await signedIn(other.token);
  const { body } = await as('POST', '/issues', { title: 'Secret plan' });
  const tails = [
    '',
    '/-/issues',
    `/-/issues/${body.iid}`,
    '/-/tree/main',
    '/-/blob/main/README.md',
    '/-/commits/main',
    '/-/packages',
  ];
  for (const tail of tails) {
    const [hidden, absent] = await Promise.all(
      [project.path, `${project.path}x`].map((path) => open(`/${path}${tail}`, { as: otherCookie })),
    );
    expect([tail, hidden!.status, absent!.status]).toEqual([tail, 404, 404]);
    expect(hidden!.text).not.toContain('Secret plan');
    expect(hidden!.text.replaceAll(project.path, `${project.path}x`)).toBe(absent!.text);
  }
});

test('a session ends with its token', async () => {
  const { body } = await call('POST', `/users/${owner.id}/personal_access_tokens`, {
    json: { name: 'page', scopes: ['api'] },
  });
  const session = await signedIn(body.token);
  expect((await open('/-/todos', { as: session })).status).toBe(200);
  await call('DELETE', `/personal_access_tokens/${body.id}`, { token: owner.token });
  expect(await open('/-/todos', { as: session })).toMatchObject({
    status: 303,
    location: '/-/sign_in?next=%2F-%2Ftodos',
  });
});

test('links of a project that was renamed lead to its pages, for those who see it', async () => {
  const moved = await projectOf(owner, 'moving');
  const at = (method: string, path: string, json: object) =>
    call(method, `/projects/${moved.id}${path}`, { token: owner.token, json });
  const actions = [{ action: 'create', file_path: 'docs/a b.md', content: 'words' }];
  await at('POST', '/repository/commits', { branch: 'main', commit_message: 'First', actions });
  await at('POST', '/issues', { title: 'Found again' });
  const name = `moved-${moved.id}`;
  await at('PUT', '', { path: name });
  const now = moved.path.replace(/[^/]+$/, name);
  for (const page of [
    '',
    '/-/issues/1',
    '/-/issues?state=closed',
    '/-/blob/main/docs/a%20b.md',
    '/-/packages',
    '/-/import',
  ]) {
    const old = await open(`/${moved.path}${page}`);
    expect([page, old.status, old.location]).toEqual([page, 303, `/${now}${page}`]);
    const [path] = `/${moved.path}${page}`.split('?');
    expect((await open(path!, { as: null })).location).toBe(`/-/sign_in?next=${encodeURIComponent(path!)}`);
  }
  expect((await open(`/${now}/-/issues/1`)).text).toContain('Found again');
});
