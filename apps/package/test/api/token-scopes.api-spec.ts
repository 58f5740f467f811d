import type { Viewer } from '@rookery/kernel';
import { registerTokenScopeTests } from '@rookery/testing';
import type { SeededService } from '@rookery/testing';
import { startPackage } from '../support/app';

let service: SeededService;
let reader: Viewer;
beforeAll(async () => {
  service = await startPackage();
  reader = service.seed.viewer(await service.seed.user());
});
afterAll(() => service.close());

registerTokenScopeTests({ app: () => service.app, viewer: () => reader });
