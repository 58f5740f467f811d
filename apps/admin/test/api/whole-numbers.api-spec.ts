import type { Viewer } from '@rookery/kernel';
import { registerNumberLimitTests } from '@rookery/testing';
import type { SeededService } from '@rookery/testing';
import { startAdmin } from '../support/app';

let service: SeededService;
let admin: Viewer;
beforeAll(async () => {
  service = await startAdmin();
  admin = service.seed.viewer(await service.seed.user({ admin: true }));
});
afterAll(() => service.close());

registerNumberLimitTests({ app: () => service.app, viewer: () => admin });
