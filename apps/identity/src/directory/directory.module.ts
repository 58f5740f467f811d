import { Module } from '@nestjs/common';
import { BEFORE_REPLAY, SCOPE_RESOLVER, WRITE_HEADERS } from '@rookery/api-v4';
import type { BeforeReplay, WriteHeaders } from '@rookery/api-v4';
import { DIRECTORY_VERSION_HEADER } from '@rookery/contracts';
import { Database, HeadWatch, HISTORY, Owns, prepareStatement } from '@rookery/persistence';
import type { LogHead } from '@rookery/persistence';
import { ShutdownOrder } from '@rookery/platform';
import { DirectoryChangeFeed } from './change-feed';
import { ChangeLog } from './change-log';
import { ChangeLogCompactionJob } from './compaction.job';
import { DirectoryController } from './directory.controller';
import { DirectoryChange, DirectoryHead, ChangeLogIncarnation, DirectoryReader } from './directory.entity';
import { ChangeLogHistoriesService } from './history/histories.service';
import { ChangeLogHistoryWatch } from './history/history-watch';
import { IdentityScopeResolver } from './scope/identity-scope-resolver';
import { NamespaceResolver } from './scope/namespace-resolver';

/**
 * Intervals at which commits of other replicas are detected. While there are other replicas, leases of revoked rights
 * end within the busy interval; otherwise they expire within a second. Without other replicas ChangeLogHistoryWatch reads the
 * head once a second; the calm interval is the fallback. Units: ms.
 */
const POLL_INTERVALS = { busyMs: 100, calmMs: 1500 };
const HEAD = prepareStatement(
  'directory_head_now',
  `select version, epoch, history <> ${HISTORY} as is_other from directory_head`,
);

/**
 * Adds to the answer of each write the directory version that the gateway must require from now on: the newest that
 * this process has committed. It includes the write's own version, because a commit is recorded before its use case
 * returns, so no transaction has to be followed to its answer. Source: ADR 0042.
 */
function createDirectoryVersionHeaders(watch: HeadWatch): WriteHeaders {
  return () => (watch.newestHead === null ? [] : [DIRECTORY_VERSION_HEADER, String(watch.newestHead)]);
}

/** Reads the head before an answer is replayed, because its write may have been committed by another process. */
function refreshDirectoryHeadBeforeReplay(watch: HeadWatch, database: Database): BeforeReplay {
  return async () => {
    const [head] = await database.prepared<LogHead>(HEAD, []);
    if (head) watch.recordMove(head);
  };
}

/**
 * The directory: the change log of users, namespaces, projects and memberships, the reach of users, and the resolution
 * of paths.
 */
@Owns(DirectoryChange, DirectoryHead, ChangeLogIncarnation, DirectoryReader)
@Module({
  controllers: [DirectoryController],
  providers: [
    {
      provide: HeadWatch,
      inject: [Database, ShutdownOrder],
      useFactory: (database: Database, shutdown: ShutdownOrder) =>
        new HeadWatch(database, shutdown, HEAD, POLL_INTERVALS),
    },
    ChangeLog,
    DirectoryChangeFeed,
    ChangeLogCompactionJob,
    ChangeLogHistoriesService,
    ChangeLogHistoryWatch,
    NamespaceResolver,
    { provide: SCOPE_RESOLVER, useClass: IdentityScopeResolver },
    { provide: WRITE_HEADERS, inject: [HeadWatch], useFactory: createDirectoryVersionHeaders },
    { provide: BEFORE_REPLAY, inject: [HeadWatch, Database], useFactory: refreshDirectoryHeadBeforeReplay },
  ],
  exports: [ChangeLog, ChangeLogCompactionJob, NamespaceResolver, SCOPE_RESOLVER],
})
export class DirectoryModule {}
