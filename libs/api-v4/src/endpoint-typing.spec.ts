import { Controller } from '@nestjs/common';
import type { Page, SignedInViewer } from '@rookery/kernel';
import {
  ability,
  anyone,
  atLeast,
  created,
  Endpoint,
  endpointsOf,
  Int,
  noContent,
  one,
  page,
  presenter,
  project,
  signedIn,
  Text,
} from './index';
import { bool, instant, int, list, nested, nullable, object, text } from './index';
import type { Call, ProjectScope } from './index';

interface Author {
  id: number;
  name: string | null;
}
interface Note {
  id: number;
  body: string;
  createdAt: Date;
  authorId: number;
}
const author = presenter<Author>('Author').fields({ id: [int, (a) => a.id], name: [nullable(text), (a) => a.name] });
const note = presenter<Note>('Note')
  .load((notes) => ({ authors: new Map(notes.map((n) => [n.authorId, { id: n.authorId, name: null }])) }))
  .fields({
    id: [int, (n) => n.id],
    body: [text, (n) => n.body],
    author: [nullable(nested(author)), (n, l) => l.authors.get(n.authorId)],
    created_at: [instant, (n) => n.createdAt],
    mine: [
      bool,
      (n, _l, ctx) => ctx.viewer.userId === n.authorId,
      { when: (_n, _l, ctx) => ctx.viewer.userId !== null },
    ],
    tags: [list(text), () => ['a']],
    stats: [object({ up: int, down: nullable(int) }), () => ({ up: 1, down: null })],
    rest: [object({}, { more: text }), () => ({})],
  });
presenter<Note>('Wrong').fields({
  // @ts-expect-error a text is no number
  id: [int, (n) => n.body],
});
const detail = note.extend<Note & { extra: string }>('NoteDetail').fields({ extra: [text, (n) => n.extra] });

class NoteParams {
  @Int() issue_iid: number;
}
class CreateNote extends NoteParams {
  @Text({ max: 10 }) body: string;
  @Int({ optional: true }) parent_id?: number;
}

@Controller('projects/:id/issues/:issue_iid/notes')
class Notes {
  @Endpoint('GET', '', {
    about: 'Lists.',
    source: 'x',
    within: project('id'),
    may: anyone(),
    params: NoteParams,
    answers: page(note),
  })
  list(call: Call<NoteParams, ProjectScope>): Promise<Page<Note>> {
    return Promise.resolve({ rows: [], total: call.params.issue_iid, hasNext: false });
  }
  @Endpoint('POST', '', {
    about: 'Adds.',
    source: 'x',
    within: project(),
    may: atLeast('guest'),
    params: CreateNote,
    answers: created(detail),
  })
  async create({ params, viewer }: Call<CreateNote, ProjectScope, SignedInViewer>) {
    const id: number = viewer.userId;
    return { id, body: params.body, createdAt: new Date(0), authorId: id, extra: '' };
  }
  @Endpoint('DELETE', ':note_id', {
    about: 'x',
    source: 'x',
    within: project(),
    may: ability('note.remove', (call: Call<object, ProjectScope>) => !call.within.archived),
    answers: noContent(),
  })
  remove(): void {}
  // @ts-expect-error a note has a body
  @Endpoint('GET', 'first', { about: 'x', source: 'x', may: signedIn(), answers: one(note) })
  wrong(): { id: number } {
    return { id: 1 };
  }
  @Endpoint('GET', 'plain', { about: 'x', source: 'x', may: anyone(), answers: noContent() })
  plain(call: Call): void {
    expect(call.within).toBeUndefined();
  }
}

test('the types of endpoints and presenters compile for correct declarations only', () => {
  expect(endpointsOf(Notes).map((endpoint) => `${endpoint.method} ${endpoint.path} ${endpoint.handler}`)).toEqual([
    'GET  list',
    'POST  create',
    'DELETE :note_id remove',
    'GET first wrong',
    'GET plain plain',
  ]);
});
