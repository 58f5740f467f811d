import { Module } from '@nestjs/common';
import { BEFORE_REPLAY, SCOPE_RESOLVER, WRITE_HEADERS } from '@rookery/api-v4';
import type { BeforeReplay, WriteHeaders } from '@rookery/api-v4';
import { DIRECTORY_VERSION_HEADER } from '@rookery/contracts';
import { Database, HeadWatch, HISTORY, Owns, prepared } from '@rookery/persistence';
import type { Head } from '@rookery/persistence';
import { ShutdownOrder } from '@rookery/platform';
import { ChangeFeed } from './change-feed';
import { ChangeLog } from './change-log';
import { CompactionJob } from './compaction.job';
import { DirectoryController } from './directory.controller';
import { DirectoryChange, DirectoryHead, DirectoryLife, DirectoryReader } from './directory.entity';
import { HistoriesService } from './history/histories.service';
import { HistoryWatch } from './history/history-watch';
import { IdentityScopeResolver } from './scope/identity-scope-resolver';
import { NamedNamespaces } from './scope/named-namespaces';

/**
 * How soon commits of other replicas are seen while there are some; leases of lost rights end by it, and by themselves
 * within a second. While there are none, HistoryWatch looks once a second; should it not, so does the head. Units: ms.
 */
const LOOKS = { busyMs: 100, calmMs: 1500 };
const HEAD = prepared(
  'directory_head_now',
  `select version, epoch, history <> ${HISTORY} as is_other from directory_head`,
);

/**
 * Tells the gateway, on the answer to each write, which version of the directory it must see from now on: the newest
 * that this process has committed. That is never less than what the write itself made, because a commit is noted
 * before its use case returns; so no transaction has to be followed to its answer. Source: ADR 0042.
 */
export function versionHeaders(watch: HeadWatch): WriteHeaders {
  return () => (watch.latest === null ? [] : [DIRECTORY_VERSION_HEADER, String(watch.latest)]);
}

/** The write whose answer is given again may be another process's: no less than its version is told. */
export function latestHead(watch: HeadWatch, database: Database): BeforeReplay {
  return async () => {
    const [head] = await database.prepared<Head>(HEAD, []);
    if (head) watch.moved(head);
  };
}

/** What services learn from: the change log of people, places and memberships, who reaches what, and the scopes of paths. */
@Owns(DirectoryChange, DirectoryHead, DirectoryLife, DirectoryReader)
@Module({
  controllers: [DirectoryController],
  providers: [
    {
      provide: HeadWatch,
      inject: [Database, ShutdownOrder],
      useFactory: (database: Database, shutdown: ShutdownOrder) => new HeadWatch(database, shutdown, HEAD, LOOKS),
    },
    ChangeLog,
    ChangeFeed,
    CompactionJob,
    HistoriesService,
    HistoryWatch,
    NamedNamespaces,
    { provide: SCOPE_RESOLVER, useClass: IdentityScopeResolver },
    { provide: WRITE_HEADERS, inject: [HeadWatch], useFactory: versionHeaders },
    { provide: BEFORE_REPLAY, inject: [HeadWatch, Database], useFactory: latestHead },
  ],
  exports: [ChangeLog, CompactionJob, NamedNamespaces, SCOPE_RESOLVER],
})
export class DirectoryModule {}
