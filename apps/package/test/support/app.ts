import { startSeeded } from '@rookery/testing';
import type { SeededService } from '@rookery/testing';
import { migrations } from '../../src/database';
import { PackageModule } from '../../src/package.module';

export function startPackage(): Promise<SeededService> {
  return startSeeded({ service: 'package', module: PackageModule, migrations });
}
