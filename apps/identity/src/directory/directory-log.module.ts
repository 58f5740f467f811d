import { Global, Module } from '@nestjs/common';
import { WRITE_HEADERS } from '@rookery/api-v4';
import type { WriteHeaders } from '@rookery/api-v4';
import { DIRECTORY_VERSION_HEADER } from '@rookery/contracts';
import { ChangeFeed } from './change-feed';
import { ChangeLog } from './change-log';
import { CompactionJob } from './compaction.job';
import { DirectoryController } from './directory.controller';
import { HeadWatch } from './head-watch';
import { NewEpoch } from './new-epoch';

/**
 * Tells the gateway, on the answer to each write, which version of the directory it must see from now on: the newest
 * that this process has committed. That is never less than what the write itself made, because a commit is noted
 * before its use case returns; so no transaction has to be followed to its answer. Source: architecture 5.3; ADR 0043.
 */
export function versionHeaders(watch: HeadWatch): WriteHeaders {
  return () => (watch.latest === null ? [] : [DIRECTORY_VERSION_HEADER, String(watch.latest)]);
}

/** The directory's change log: `ChangeLog` for use cases, the internal routes for everybody else. Global. */
@Global()
@Module({
  controllers: [DirectoryController],
  providers: [
    HeadWatch,
    ChangeLog,
    ChangeFeed,
    CompactionJob,
    NewEpoch,
    { provide: WRITE_HEADERS, inject: [HeadWatch], useFactory: versionHeaders },
  ],
  exports: [ChangeLog, CompactionJob, HeadWatch, NewEpoch, WRITE_HEADERS],
})
export class DirectoryLogModule {}
