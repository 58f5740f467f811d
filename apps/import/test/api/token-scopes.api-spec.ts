import type { Viewer } from '@rookery/kernel';
import { registerTokenScopeTests } from '@rookery/testing';
import { ImportScene } from '../support/scene';

let scene: ImportScene;
let reader: Viewer;
beforeAll(async () => {
  scene = await ImportScene.open();
  reader = scene.service.seed.viewer(await scene.service.seed.user());
});
afterAll(() => scene.close());

registerTokenScopeTests({ app: () => scene.service.app, viewer: () => reader });
