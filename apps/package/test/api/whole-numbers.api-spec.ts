import type { Viewer } from '@rookery/kernel';
import { wholeNumbers } from '@rookery/testing';
import type { SeededService } from '@rookery/testing';
import { startPackage } from '../support/app';

let service: SeededService;
let admin: Viewer;
let ids: Readonly<Record<string, number>>;
beforeAll(async () => {
  service = await startPackage();
  admin = service.seed.viewer(await service.seed.user({ admin: true }));
  ids = { projects: (await service.seed.project({ visibility: 'public' })).id };
});
afterAll(() => service.close());

wholeNumbers({ app: () => service.app, viewer: () => admin, ids: () => ids });
