import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Viewer } from '@rookery/kernel';
import { requestOf } from '@rookery/testing';
import type { Method, SeededService } from '@rookery/testing';
import { startCollaboration } from '../support/app';
import { TEXTS, written, wrongOf } from '../support/hostile-texts';

/**
 * Every parameter of every route that writes, as the service's own document names them, with texts that are longer than
 * any field may be, and as long as most may be. Source: reference reliability 7.3.
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
/** Fields that are read for what they say, or stored as they are, also meet their own lengths. */
const TEXT_SIZES = [TOO_LONG, 1_000_000, 524_288, 10_000];
const TEXT_FIELDS = ['description', 'body', 'content'];
/** How many texts each field meets; all fields together meet all of them. */
const EACH = { text: 2, other: 1 };
/** What is too long of these is refused; others are ignored, look for what is not there, or are as long as a body. */
const BOUNDED = ['title', 'description', 'body', 'name', 'new_name'];
/** What else a request must say. */
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

const operations = writes();
let service: SeededService;
let viewer: Viewer;
let places: Readonly<Record<string, number | string>>;
const texts = Object.entries(TEXTS);
let turn = 0;

beforeAll(async () => {
  service = await startCollaboration({ NOTES_CREATES_PER_MINUTE_COUNT: '0' });
  const { seed, app } = service;
  const group = await seed.group({ plan: 'ultimate' });
  const project = await seed.project({ namespace_id: group.id });
  const owner = await seed.user();
  await seed.member(owner, group, 'owner');
  viewer = { ...seed.viewer(owner), directory: seed.anonymous().directory };
  const [p, g] = [`/projects/${project.id}`, `/groups/${group.id}`];
  const one = async (path: string, fields: object = {}) =>
    (await app.as(viewer).post(`/api/v4${path}`).send(fields).expect(201)).body as { id: number; iid: number };
  const talk = async (path: string) => {
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
  const [ofIssue, ofEpic, ofSnippet] = [
    await talk(`${p}/issues/${issue.iid}`),
    await talk(`${g}/epics/${epic.id}`),
    await talk(`${p}/snippets/${snippet.id}`),
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
    'issues note_id': ofIssue.note,
    'epics note_id': ofEpic.note,
    'snippets note_id': ofSnippet.note,
    child_epic_id: (await one(`${g}/epics/${epic.iid}/epics`, { title: 'z' })).id,
    epic_issue_id: (await one(`${g}/epics/${epic.iid}/issues/${issue.id}`)).id,
  };
}, 60_000);
afterAll(() => service.close());

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
          const send = written({ ...othersOf(operation), ...valueOf(field, isList ? [sent] : sent) });
          const ask = () => send(requestOf(service.app.as(viewer), operation.method, pathOf(operation)));
          const isTooLong = BOUNDED.includes(field) && Array.from(sent).length >= TOO_LONG;
          const isWrong = (status: number) => status >= 500 || (isTooLong && status < 400);
          const told = await wrongOf(`${field}: ${size} of ${name}`, ask, isWrong);
          if (told !== null) wrong.push(told);
        }
      }
    }
    expect(wrong).toEqual([]);
  },
  120_000,
);

function othersOf({ name, required }: Operation): object {
  const wanted = [...required, ...(OF_FILES.includes(name) ? ['file_name', 'content'] : [])];
  const others = Object.fromEntries(wanted.map((field) => [field, VALID[field] ?? 1]));
  return BY_NAME.includes(name) ? { name: 'x', ...others } : others;
}

/** Files are told by their own fields. */
function valueOf(field: string, value: unknown): object {
  if (field !== 'files') return { [field]: value };
  return { files: [{ action: 'create', file_path: value, content: 'x' }] };
}

function pathOf({ path }: Operation): string {
  const [root] = path.split('/').slice(3);
  const talked = /\/(issues|epics|snippets)\//.exec(path)?.[1];
  const isLetter = (key: string) => places[`${root} ${key}`] ?? places[`${talked} ${key}`] ?? places[key] ?? 1;
  return path.replace(/\{(\w+)\}/g, (_, key: string) => `${isLetter(key)}`);
}

/** Another name of a route is the same endpoint. */
function writes(): readonly Operation[] {
  const document = JSON.parse(readFileSync(join(__dirname, '../../openapi.json'), 'utf8'));
  const schemas = document.components.schemas as Record<string, Schema>;
  return Object.entries(document.paths as Record<string, Record<string, never>>).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, said]) => {
      const { operationId: name, requestBody, parameters, ...rest } = said as unknown as Said;
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
interface Said {
  readonly operationId: string;
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Schema }>> };
  readonly parameters?: readonly { readonly in: string; readonly name: string; readonly schema: object }[];
  readonly 'x-rookery-alias-of'?: string;
}
