import { egressSettings } from '@rookery/egress';
import { startSeededService } from '@rookery/testing';
import type { SeededService, TestAppOptions } from '@rookery/testing';
import { AdminModule } from '../../src/admin.module';
import { migrations } from '../../src/database';
import { geoSettings } from '../../src/geo-sites/geo-sites.config';

export function startAdmin(o: Pick<TestAppOptions, 'env'> = {}): Promise<SeededService> {
  return startSeededService({
    service: 'admin',
    module: AdminModule,
    migrations,
    settings: [egressSettings, geoSettings],
    ...o,
  });
}
