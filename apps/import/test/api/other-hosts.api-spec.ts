import { RemoteHost } from '@rookery/testing';
import { ImportScene } from '../support/scene';

let other: RemoteHost;
let scene: ImportScene;
beforeAll(async () => {
  other = await RemoteHost.start();
  scene = await ImportScene.open({}, [other]);
});
afterAll(async () => {
  await scene.close();
  await other.stop();
});

it('sends the credential to the named host alone', async () => {
  const { clone_url } = await other.add('heron');
  const repository = await scene.host.add('egret', { clone_url });
  const { importId } = await scene.started('egret2', {}, repository);
  await scene.run(importId, 4);
  expect(await scene.row(importId)).toMatchObject({
    ...{ clone_url, state: 'failed', sealed_credential: null },
    error: expect.stringContaining('remote repository') as string,
  });
  expect(other.seen.length).toBeGreaterThan(0);
  expect(other.seen.filter(({ authorization }) => authorization !== undefined)).toEqual([]);
});
