import createClient from 'openapi-fetch';
import type { components, paths } from './api';

/**
 * A bot that greets the author of each open issue and closes fixed issues, with the types of one generator. Prints its
 * results as JSON.
 */
type Issue = components['schemas']['Issue'];
type Refused = { readonly error?: unknown; readonly response: Response };

const [baseUrl = '', token = '', mark = ''] = process.argv.slice(2);
const rookery = createClient<paths>({ baseUrl, headers: { 'PRIVATE-TOKEN': token } });

function got<T>(answer: { readonly data?: T | undefined } & Refused): T {
  if (answer.data === undefined) throw new Error(`${answer.response.status} ${JSON.stringify(answer.error)}`);
  return answer.data;
}

async function* openIssues(id: number): AsyncGenerator<Issue> {
  for (let page = 1; page > 0;) {
    const query = { page, per_page: 2, state: 'opened', order_by: 'created_at', sort: 'asc' } as const;
    const answer = await rookery.GET('/api/v4/projects/{id}/issues', { params: { path: { id }, query } });
    yield* got(answer);
    page = Number(answer.response.headers.get('X-Next-Page'));
  }
}

async function main(): Promise<void> {
  const body = { name: `Bot ${mark}`, path: `bot-${mark}`, visibility: 'private' } as const;
  const group = got(await rookery.POST('/api/v4/groups', { body }));
  const eggs = { name: 'Eggs', namespace_id: group.id };
  const { id } = got(await rookery.POST('/api/v4/projects', { body: eggs }));
  const path = { id };
  for (const title of ['Cracked', 'Cold', 'Fixed: loud'])
    got(await rookery.POST('/api/v4/projects/{id}/issues', { params: { path }, body: { title, labels: ['nest'] } }));
  const greeted: string[] = [];
  const closed: number[] = [];
  for await (const { iid, title, author } of openIssues(id)) {
    const at = { params: { path: { id, issue_iid: iid } } };
    const text = { body: `Thank you, @${author?.username ?? 'stranger'}.` };
    const note = got(await rookery.POST('/api/v4/projects/{id}/issues/{issue_iid}/notes', { ...at, body: text }));
    if ('body' in note) greeted.push(note.body);
    if (!title.startsWith('Fixed')) continue;
    const change = { state_event: 'close' } as const;
    const { state } = got(await rookery.PUT('/api/v4/projects/{id}/issues/{issue_iid}', { ...at, body: change }));
    if (state === 'closed') closed.push(iid);
  }
  const missing = await rookery.GET('/api/v4/projects/{id}', { params: { path: { id: 'no/where' } } });
  process.stdout.write(JSON.stringify({ id, greeted, closed, missing: [missing.response.status, missing.error] }));
}

void main();
