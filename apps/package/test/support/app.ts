import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { blobsSettings } from '@rookery/blobs';
import { startSeededService } from '@rookery/testing';
import type { SeededService } from '@rookery/testing';
import { migrations } from '../../src/database';
import { packageSettings } from '../../src/package.config';
import { PackageModule } from '../../src/package.module';

/** The package service with its own folder for files. `blobs` is that folder. */
export interface PackageService extends SeededService {
  readonly blobs: string;
}

export async function startPackage(env: Readonly<Record<string, string>> = {}): Promise<PackageService> {
  const blobs = mkdtempSync(join(tmpdir(), 'rookery-package-'));
  const service = await startSeededService({
    service: 'package',
    module: PackageModule,
    migrations,
    settings: [blobsSettings, packageSettings],
    env: { BLOBS_URL: blobs, ...env },
  });
  const close = async (): Promise<void> => {
    await service.close();
    rmSync(blobs, { recursive: true, force: true });
  };
  return { ...service, blobs, close };
}
