import type { Viewer } from '@rookery/kernel';
import { registerNumberLimitTests } from '@rookery/testing';
import { PipelineScene } from '../support/pipelines';

let scene: PipelineScene;
let admin: Viewer;
let ids: Readonly<Record<string, number>>;
beforeAll(async () => {
  scene = await PipelineScene.open();
  admin = scene.seed.viewer(await scene.seed.user({ admin: true }));
  ids = { projects: (await scene.seed.project({ visibility: 'public' })).id };
});
afterAll(() => scene.close());

registerNumberLimitTests({ app: () => scene.app, viewer: () => admin, ids: () => ids });
