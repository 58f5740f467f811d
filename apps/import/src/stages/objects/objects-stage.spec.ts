import { fieldsOf } from '../../sources/upstream-fields';
import { labelForm } from './object-forms';
import { objectList } from './object-list';
import { ObjectsStage } from './objects-stage';

it('reads each completed item before the host sends the next one, so that no two large answers are in memory', async () => {
  const steps: string[] = [];
  const list = objectList({
    ...labelForm,
    path: '/labels',
    detailsOf: (item) => `/labels/${String(fieldsOf(item)['name'])}`,
    read: (item) => {
      const name = String(fieldsOf(item)['name']);
      steps.push(`read ${name} ${String(fieldsOf(item)['color'])}`);
      return { name, color: '000000', description: null };
    },
  });
  const repository = {
    host: 'example.org',
    firstPage: (path: string) => path,
    page: async () => ({ items: [{ name: 'a' }, { name: 'b' }], next: null, pauseUntil: null }),
    object: async (path: string) => {
      steps.push(`get ${path}`);
      return { color: path };
    },
  };
  let isDone = false;
  const journal = {
    progress: async () => ({ isDone, nextPage: null, pages: 0 }),
    advance: async () => {
      isDone = true;
    },
    check: async () => undefined,
  };
  const people = { owners: async () => () => ({ user_id: 1, is_shared: false }) };
  const objects = { write: async () => [] };
  const stage = new ObjectsStage(people as never, objects as never, {} as never);
  const source = { projectId: 1, importKey: 'k', importType: 'remote', repository, pageSize: 10, attachments: null };
  await stage.run(list, source, journal as never, new AbortController().signal);
  expect(steps).toEqual(['get /labels/a', 'read a /labels/a', 'get /labels/b', 'read b /labels/b']);
});
