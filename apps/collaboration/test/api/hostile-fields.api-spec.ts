import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Viewer } from '@rookery/kernel';
import { requestOf } from '@rookery/testing';
import type { Method, SeededService } from '@rookery/testing';
import { AccountFacts } from '../support/account-facts';
import { startCollaboration } from '../support/app';
import { CPU_LIMIT, TEXTS, prepared, problemOf } from '../support/hostile-texts';

/**
 * Sends texts to every parameter of every POST, PUT, PATCH and DELETE route in the service's OpenAPI document: texts that are longer than
 * any limit, and as long as common limits. Source: reference reliability 7.3.
 */
interface Operation {
  readonly name: string;
  readonly method: Method;
  readonly path: string;
  readonly fields: Readonly<Record<string, { readonly type?: string | readonly string[] }>>;
  readonly required: readonly string[];
}

const TOO_LONG = 1_048_577;
const SIZES = [TOO_LONG, 255];
/** Sizes for long text fields: also their own maximum lengths. */
const TEXT_SIZES = [TOO_LONG, 1_000_000, 524_288, 10_000];
const TEXT_FIELDS = ['description', 'body', 'content'];
/** Number of texts for each field; all fields together get all texts. */
const EACH = { text: 2, other: 1 };
/** Fields that refuse too long values; others ignore them, find nothing, or are limited by the body size only. */
const BOUNDED = ['title', 'description', 'body', 'name', 'new_name'];
/** Valid values of the other required parameters. */
const VALID: Readonly<Record<string, unknown>> = {
  title: 'x',
  name: 'thumbsup',
  body: 'x',
  color: '#ff0000',
  duration: '1h',
  resolved: true,
  target_issue_iid: 2,
  visibility: 'private',
  file_name: 'a.txt',
  content: 'x',
};
const OF_FILES = ['createProjectSnippet', 'createSnippet'];
const BY_NAME = ['updateProjectLabelByName', 'updateGroupLabelByName'];

/**
 * Additional limit of routes that write to a repository: each starts several git processes, which costs a test process
 * with its large heap some 25 ms each, whatever the text. Units: ms of CPU.
 */
const GIT_STARTS = 400;

const operations = listWriteOperations();
const identity = new AccountFacts();
let service: SeededService;
let viewer: Viewer;
let places: Readonly<Record<string, number | string>>;
const texts = Object.entries(TEXTS);
let turn = 0;

beforeAll(async () => {
  identity.choose = () => ({ outcome: 'not_verified', email: 'user@mail.example' });
  await identity.listen();
  service = await startCollaboration({ NOTES_CREATES_PER_MINUTE_COUNT: '0', IDENTITY_URL: identity.url });
  const { seed, app } = service;
  const group = await seed.group({ plan: 'ultimate' });
  const project = await seed.project({ namespace_id: group.id });
  const owner = await seed.user();
  await seed.member(owner, group, 'owner');
  viewer = { ...seed.viewer(owner), directory: seed.anonymous().directory };
  const [p, g] = [`/projects/${project.id}`, `/groups/${group.id}`];
  const one = async (path: string, fields: object = {}) =>
    (await app.as(viewer).post(`/api/v4${path}`).send(fields).expect(201)).body as { id: number; iid: number };
  const createDiscussion = async (path: string) => {
    const { id, notes } = (await one(`${path}/discussions`, { body: 'x' })) as unknown as {
      id: string;
      notes: readonly { id: number }[];
    };
    return { discussion: id, note: notes[0]!.id };
  };
  const file = { title: 'x', visibility: 'private', file_name: 'a.txt', content: 'x' };
  const [issue, epic, snippet] = [
    await one(`${p}/issues`, { title: 'x' }),
    await one(`${g}/epics`, { title: 'x' }),
    await one(`${p}/snippets`, file),
  ];
  await one(`${p}/issues`, { title: 'y' });
  const action = { action: 'create', file_path: 'a.txt', content: 'x' };
  await one(`${p}/repository/commits`, { branch: 'main', commit_message: 'x', actions: [action] });
  const [ofIssue, ofEpic, ofSnippet, ofCommit] = [
    await createDiscussion(`${p}/issues/${issue.iid}`),
    await createDiscussion(`${g}/epics/${epic.id}`),
    await createDiscussion(`${p}/snippets/${snippet.id}`),
    await createDiscussion(`${p}/repository/commits/main`),
  ];
  places = {
    'projects id': project.id,
    'groups id': group.id,
    'snippets id': (await one('/snippets', file)).id,
    issue_iid: issue.iid,
    epic_iid: epic.iid,
    epic_id: epic.id,
    snippet_id: snippet.id,
    'projects label_id': (await one(`${p}/labels`, { name: 'x', color: '#ff0000' })).id,
    'groups label_id': (await one(`${g}/labels`, { name: 'y', color: '#ff0000' })).id,
    'projects milestone_id': (await one(`${p}/milestones`, { title: 'x' })).id,
    'groups milestone_id': (await one(`${g}/milestones`, { title: 'y' })).id,
    'issues discussion_id': ofIssue.discussion,
    'epics discussion_id': ofEpic.discussion,
    'snippets discussion_id': ofSnippet.discussion,
    'commits sha': 'main',
    'commits discussion_id': ofCommit.discussion,
    'issues note_id': ofIssue.note,
    'epics note_id': ofEpic.note,
    'snippets note_id': ofSnippet.note,
    'commits note_id': ofCommit.note,
    child_epic_id: (await one(`${g}/epics/${epic.iid}/epics`, { title: 'z' })).id,
    epic_issue_id: (await one(`${g}/epics/${epic.iid}/issues/${issue.id}`)).id,
  };
});
afterAll(async () => {
  await service.close();
  await identity.close();
});

test.each(operations.map((operation) => [operation.name, operation] as const))(
  '%s',
  async (_, operation) => {
    const wrong: string[] = [];
    for (const [field, { type }] of Object.entries(operation.fields)) {
      const isText = TEXT_FIELDS.includes(field);
      for (const size of isText ? TEXT_SIZES : SIZES) {
        for (let count = isText ? EACH.text : EACH.other; count > 0; count -= 1) {
          const [name, text] = texts[turn++ % texts.length]!;
          const sent = size > text.length ? text + text.slice(0, size - text.length) : text.slice(0, size);
          const isList = String(type).includes('array') && turn % 2 === 0;
          const send = prepared({
            ...otherRequiredFields(operation),
            ...hostileFieldBody(field, isList ? [sent] : sent),
          });
          const ask = () => send(requestOf(service.app.as(viewer), operation.method, operationPath(operation)));
          // Quick actions are removed from a description before its length is checked.
          const isShortened = field === 'description' && name === 'commands';
          const isTooLong = BOUNDED.includes(field) && Array.from(sent).length >= TOO_LONG && !isShortened;
          const isWrong = (status: number) => status >= 500 || (isTooLong && status < 400);
          const limit = CPU_LIMIT + (operation.path.includes('/repository/') ? GIT_STARTS : 0);
          const problem = await problemOf(`${field}: ${size} of ${name}`, ask, isWrong, limit);
          if (problem !== null) wrong.push(problem);
        }
      }
    }
    expect(wrong).toEqual([]);
  },
  120_000,
);

function otherRequiredFields({ name, required }: Operation): object {
  const wanted = [...required, ...(OF_FILES.includes(name) ? ['file_name', 'content'] : [])];
  const others = Object.fromEntries(wanted.map((field) => [field, VALID[field] ?? 1]));
  return BY_NAME.includes(name) ? { name: 'x', ...others } : others;
}

/** Returns a parameter with a value; `files` need objects. */
function hostileFieldBody(field: string, value: unknown): object {
  if (field !== 'files') return { [field]: value };
  return { files: [{ action: 'create', file_path: value, content: 'x' }] };
}

function operationPath({ path }: Operation): string {
  const [root] = path.split('/').slice(3);
  const noteable = /\/(issues|epics|snippets|commits)\//.exec(path)?.[1];
  const valueFor = (key: string) => places[`${root} ${key}`] ?? places[`${noteable} ${key}`] ?? places[key] ?? 1;
  return path.replace(/\{(\w+)\}/g, (_, key: string) => `${valueFor(key)}`);
}

/** Lists the routes that write; aliases of a route are the same endpoint. */
function listWriteOperations(): readonly Operation[] {
  const document = JSON.parse(readFileSync(join(__dirname, '../../openapi.json'), 'utf8'));
  const schemas = document.components.schemas as Record<string, Schema>;
  return Object.entries(document.paths as Record<string, Record<string, never>>).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, said]) => {
      const { operationId: name, requestBody, parameters, ...rest } = said as unknown as DocumentedOperation;
      if (method === 'get' || rest['x-rookery-alias-of']) return [];
      const media = Object.values(requestBody?.content ?? {})[0]?.schema;
      const schema = media?.$ref ? schemas[media.$ref.split('/').at(-1)!] : media;
      const asked = (parameters ?? []).filter((one) => one.in === 'query').map((one) => [one.name, one.schema]);
      const fields = { ...Object.fromEntries(asked), ...schema?.properties } as Operation['fields'];
      if (Object.keys(fields).length === 0) return [];
      return [{ name, method: method.toUpperCase() as Method, path, fields, required: schema?.required ?? [] }];
    }),
  );
}

interface Schema {
  readonly $ref?: string;
  readonly properties?: Operation['fields'];
  readonly required?: readonly string[];
}
interface DocumentedOperation {
  readonly operationId: string;
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Schema }>> };
  readonly parameters?: readonly { readonly in: string; readonly name: string; readonly schema: object }[];
  readonly 'x-rookery-alias-of'?: string;
}
