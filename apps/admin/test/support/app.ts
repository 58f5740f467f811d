import { startSeeded } from '@rookery/testing';
import type { SeededService } from '@rookery/testing';
import { AdminModule } from '../../src/admin.module';
import { migrations } from '../../src/database';

export function startAdmin(): Promise<SeededService> {
  return startSeeded({ service: 'admin', module: AdminModule, migrations });
}
