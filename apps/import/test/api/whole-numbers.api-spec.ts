import type { Viewer } from '@rookery/kernel';
import { registerNumberLimitTests } from '@rookery/testing';
import { ImportScene } from '../support/scene';

let scene: ImportScene;
let admin: Viewer;
let ids: Readonly<Record<string, number>>;
beforeAll(async () => {
  scene = await ImportScene.open();
  const { seed } = scene.service;
  admin = seed.viewer(await seed.user({ admin: true }));
  ids = { projects: (await seed.project({ visibility: 'public' })).id };
});
afterAll(() => scene.close());

registerNumberLimitTests({ app: () => scene.service.app, viewer: () => admin, ids: () => ids });
