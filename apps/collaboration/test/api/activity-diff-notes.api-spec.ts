import { startNats } from '@rookery/testing';
import type { PrivateNats, SeededService } from '@rookery/testing';
import { startCollaboration } from '../support/app';
import type { Cast } from '../support/app';
import { MergeRequestScene } from '../support/merge-request-scene';
import type { MergePlace } from '../support/merge-request-scene';
import { startWorker } from '../support/worker';
import type { Worker } from '../support/worker';

/** Feeds about comments on the diff of a merge request. Source: reference work-tracking 7.4. */
let service: SeededService;
let nats: PrivateNats;
let worker: Worker;
let scene: MergeRequestScene;
let place: MergePlace;

beforeAll(async () => {
  service = await startCollaboration();
  nats = await startNats();
  worker = await startWorker({ databaseUrl: service.databaseUrl, nats });
  scene = await MergeRequestScene.start(service);
  place = await scene.place();
});
afterAll(async () => {
  await worker.stop();
  await scene.stop();
  await nats.drop();
  await service.close();
});

type Note = Readonly<Record<string, unknown>> & { readonly id: number };
const as = (name: keyof Cast) => service.app.as(service.seed.viewer(place.cast[name]));

test('an entry has the whole note, with its position, commit and suggestions', async () => {
  const head = await scene.files(place, 'topic', { 'a.txt': 'one\ntwo\n' }, place.mainSha);
  const sent = { title: 'A change', source_branch: 'topic', target_branch: 'main' };
  const { body: opened } = await as('developer').post(place.path).send(sent).expect(201);
  const { iid, diff_refs: refs } = opened as { iid: number; diff_refs: object };
  const at = `${place.path}/${iid}`;
  const position = { ...refs, position_type: 'text', new_path: 'a.txt', new_line: 2 };
  const comment = { body: 'Better:\n```suggestion\nsecond\n```', position, commit_id: head };
  const { body: thread } = await as('guest').post(`${at}/discussions`).send(comment).expect(201);
  const { id, notes } = thread as { id: string; notes: Note[] };
  await as('guest').post(`${at}/discussions/${id}/notes`).send({ body: 'Please' }).expect(201);
  await as('guest').post(`${at}/notes`).send({ body: 'On the whole' }).expect(201);
  await worker.drained();

  const query = { action: 'commented', sort: 'asc' };
  const feeds = [
    ['guest', `/api/v4/projects/${place.project.id}/events`],
    ['guest', '/api/v4/events'],
    ['guest', '/api/v4/events?scope=all'],
    ['developer', `/api/v4/users/${place.cast.guest.id}/events`],
  ] as const;
  for (const [name, path] of feeds) {
    const { body } = await as(name).get(path).query(query).expect(200);
    const entries = body as { target_type: string; note: Note }[];
    expect(entries.map((entry) => entry.target_type)).toEqual(['DiffNote', 'DiffNote', 'Note']);
    for (const { note } of entries) {
      const { body: whole } = await as(name).get(`${at}/notes/${note.id}`).expect(200);
      expect(note).toEqual(whole);
    }
    expect(entries[0]!.note).toMatchObject({
      id: notes[0]!.id,
      commit_id: head,
      position: { new_path: 'a.txt', new_line: 2 },
      suggestions: [{ from_content: 'two\n', to_content: 'second\n', appliable: true }],
    });
  }
});
