import type { Viewer } from '@rookery/kernel';
import { registerTokenScopeTests } from '@rookery/testing';
import type { SeededService } from '@rookery/testing';
import { startCollaboration } from '../support/app';

let service: SeededService;
let reader: Viewer;
beforeAll(async () => {
  service = await startCollaboration();
  reader = service.seed.viewer(await service.seed.user());
});
afterAll(() => service.close());

registerTokenScopeTests({ app: () => service.app, viewer: () => reader });
