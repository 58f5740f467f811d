import { toFields } from '../../sources/upstream-fields';
import { labelForm } from './object-forms';
import { defineObjectList } from './object-list';
import { ObjectsImportStage } from './objects-stage';

it('reads each completed item before the host sends the next one, so that no two large answers are in memory', async () => {
  const steps: string[] = [];
  const list = defineObjectList({
    ...labelForm,
    path: '/labels',
    detailsOf: (item) => `/labels/${String(toFields(item)['name'])}`,
    read: (item) => {
      const name = String(toFields(item)['name']);
      steps.push(`read ${name} ${String(toFields(item)['color'])}`);
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
    checkStillRunning: async () => undefined,
  };
  const people = { findOwners: async () => () => ({ user_id: 1, is_shared: false }) };
  const objects = { writeObjects: async () => [] };
  const stage = new ObjectsImportStage(people as never, objects as never, {} as never);
  const source = { projectId: 1, importKey: 'k', importType: 'remote', repository, pageSize: 10, attachments: null };
  await stage.run(list, source, journal as never, new AbortController().signal);
  expect(steps).toEqual(['get /labels/a', 'read a /labels/a', 'get /labels/b', 'read b /labels/b']);
});

it('writes the objects of short lists together', async () => {
  const list = defineObjectList({
    ...labelForm,
    path: '/issues',
    membersOf: (item) => `/issues/${String(item)}/labels`,
    read: (item) => ({ name: String(item), color: '000000', description: null }),
  });
  const repository = {
    host: 'example.org',
    firstPage: (path: string) => path,
    page: async (path: string) => ({ items: path === '/issues' ? [1, 2, 3] : [path], next: null, pauseUntil: null }),
  };
  let isDone = false;
  const advanced: object[] = [];
  const journal = {
    progress: async () => ({ isDone, nextPage: null, pages: 0 }),
    advance: async (page: object) => {
      advanced.push(page);
      isDone = true;
    },
    checkStillRunning: async () => undefined,
  };
  const people = { findOwners: async () => () => ({ user_id: 1, is_shared: false }) };
  const written: string[][] = [];
  const objects = {
    writeObjects: async (request: { readonly objects: readonly { readonly name: string }[] }) => {
      written.push(request.objects.map(({ name }) => name));
      return [];
    },
  };
  const stage = new ObjectsImportStage(people as never, objects as never, {} as never);
  const source = { projectId: 1, importKey: 'k', importType: 'remote', repository, pageSize: 10, attachments: null };
  await stage.run(list, source as never, journal as never, new AbortController().signal);
  // A machine that stops for a second writes in two steps.
  expect(written.flat()).toEqual(['/issues/1/labels', '/issues/2/labels', '/issues/3/labels']);
  expect(written.length).toBeLessThan(3);
  expect(advanced).toMatchObject([{ fetched: 3, imported: 3 }]);
});
