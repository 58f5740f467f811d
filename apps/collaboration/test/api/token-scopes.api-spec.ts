import type { Viewer } from '@rookery/kernel';
import { tokenScopes } from '@rookery/testing';
import { startCollaboration } from '../support/collaboration';
import type { Collaboration } from '../support/collaboration';

let service: Collaboration;
let reader: Viewer;
beforeAll(async () => {
  service = await startCollaboration();
  reader = service.seed.viewer(await service.seed.user());
});
afterAll(() => service.close());

tokenScopes({ app: () => service.app, viewer: () => reader });
