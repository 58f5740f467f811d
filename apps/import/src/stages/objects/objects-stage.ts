import { Injectable } from '@nestjs/common';
import type { UnimportedObject } from '@rookery/contracts';
import { People } from '../../people/people';
import { RemoteClient } from '../../sources/remote/remote-client';
import type { RemoteAccess, RemotePage } from '../../sources/remote/remote-client';
import { SourceError } from '../../sources/source-error';
import { StageFailed, StageWaits } from '../stage-failure';
import type { FailedObject } from '../stage-failure';
import type { StagePage, StageProgress } from '../stage-progress';
import type { ObjectList } from './object-list';
import { ProjectObjects } from './project-objects';

/** The repository whose objects are imported, and the project. */
export interface ObjectsSource {
  readonly projectId: number;
  readonly importKey: string;
  readonly importType: string;
  readonly access: RemoteAccess;
  /** Owner and name. */
  readonly upstreamName: string;
  readonly pageSize: number;
}

/** Records of a stage in its import. Shape: `advance` also checks that the import still runs; errors: those that end it. */
export interface StageJournal {
  progress(): Promise<StageProgress>;
  advance(page: StagePage, failed: readonly FailedObject[]): Promise<void>;
  /** Checks within a page that the import still runs. Errors: those that end it. */
  check(): Promise<void>;
}

/** A host that sends more pages does not end. */
const MAX_PAGES = 10_000;
/** Pages of lists of the items of one page, all together. */
const MAX_MEMBER_PAGES = 1000;
/** Failed objects of one page that are recorded. */
const MAX_FAILED = 1000;
/** Items that are completed and written at once: the host may make each of them large. */
const COMPLETED_AT_ONCE = 10;
const MALFORMED = { name: 'unknown', message: 'The host sent a malformed object.' };

/**
 * Imports the objects of a list, page by page. Collaboration stores a page before the next one is read, and stores it once
 * even if it gets it twice, so an interrupted stage continues. Source: reference identity-and-import 6.6, 6.8; ADR 0195.
 */
@Injectable()
export class ObjectsStage {
  constructor(
    private readonly remote: RemoteClient,
    private readonly people: People,
    private readonly objects: ProjectObjects,
  ) {}

  /** Errors: StageFailed; StageWaits; those of the journal; the reason of the signal. */
  async run(list: ObjectList, source: ObjectsSource, journal: StageJournal, signal: AbortSignal): Promise<void> {
    for (;;) {
      const { isDone, nextPage, pages } = await journal.progress();
      if (isDone) return;
      if (pages >= MAX_PAGES) throw new StageFailed('The host sends too many pages.', true);
      signal.throwIfAborted();
      const address = nextPage ?? firstPage(list, source);
      const page = await this.read(source, address, signal);
      const counts = { fetched: 0, imported: 0 };
      const failed: FailedObject[] = [];
      for await (const items of this.objectsOf(list, source, page, signal)) {
        const written = await this.importItems(list, source, items);
        counts.fetched += written.fetched;
        counts.imported += written.imported;
        failed.push(...written.failed.slice(0, MAX_FAILED - failed.length));
        if (list.membersOf) await journal.check();
      }
      await journal.advance({ next: page.next, ...counts }, failed);
      if (page.next !== null && page.pauseUntil) throw new StageWaits(page.pauseUntil);
    }
  }

  /** Yields the objects of a page. Lists of its items are read one by one, and no more than a page is in memory. */
  private async *objectsOf(
    list: ObjectList,
    source: ObjectsSource,
    page: RemotePage,
    signal: AbortSignal,
  ): AsyncGenerator<readonly unknown[]> {
    if (!list.membersOf) {
      const size = list.detailsOf ? COMPLETED_AT_ONCE : page.items.length;
      for (let at = 0; at < page.items.length; at += size)
        yield await this.completed(list, source, page.items.slice(at, at + size), signal);
      return;
    }
    let pages = 0;
    for (const item of page.items) {
      const path = list.membersOf(item);
      let next = path && `${repositoryAddress(source)}${path}?per_page=${source.pageSize}`;
      for (; next !== null; pages++) {
        if (pages >= MAX_MEMBER_PAGES) throw new StageFailed('The host sends too many pages.', true);
        const members = await this.read(source, next, signal);
        yield members.items;
        next = members.next;
      }
    }
  }

  private async importItems(list: ObjectList, source: ObjectsSource, found: readonly unknown[]) {
    const { items, failed } = itemsOf(list, found);
    const problems = await this.write(list, source, items);
    const unimported = problems.map(({ index, message }) => failureOf(list, list.nameOf(items[index]), message));
    const [fetched, imported] = [items.length + failed.length, items.length - problems.length];
    return { fetched, imported, failed: [...failed, ...unimported] };
  }

  private async read({ access }: ObjectsSource, address: string, signal: AbortSignal): Promise<RemotePage> {
    return withStageErrors(signal, async () => {
      const page = await this.remote.page(access, address, signal);
      if (page.next === address) throw new SourceError('address', 'Invalid pagination URL.');
      return page;
    });
  }

  /** Completes items that lack fields. */
  private async completed(
    { detailsOf }: ObjectList,
    source: ObjectsSource,
    given: readonly unknown[],
    signal: AbortSignal,
  ): Promise<readonly unknown[]> {
    if (!detailsOf) return given;
    const items: unknown[] = [];
    for (const item of given) {
      const path = detailsOf(item);
      const address = path === null ? null : `${repositoryAddress(source)}${path}`;
      const read = () => this.remote.object(source.access, address!, signal);
      const details = address === null ? null : await withStageErrors(signal, read);
      items.push(details === null ? item : { ...(item as object), ...details });
    }
    return items;
  }

  private async write(
    list: ObjectList,
    source: ObjectsSource,
    items: readonly unknown[],
  ): Promise<readonly UnimportedObject[]> {
    if (items.length === 0) return [];
    const people = items.flatMap((item) => list.peopleOf(item));
    const { importKey, importType: import_type, projectId: project_id, access } = source;
    const ownerOf = await this.people.owners(importKey, new URL(access.url).host, people);
    const objects = items.map((item) => list.convert(item, ownerOf));
    return this.objects.write({ project_id, import_type, kind: list.kind, objects });
  }
}

function firstPage({ path }: ObjectList, source: ObjectsSource): string {
  return `${repositoryAddress(source)}${path}${path.includes('?') ? '&' : '?'}per_page=${source.pageSize}`;
}

function repositoryAddress({ access, upstreamName }: ObjectsSource): string {
  return `${access.url}/repos/${upstreamName.split('/').map(encodeURIComponent).join('/')}`;
}

/** Errors: StageFailed or StageWaits in the place of SourceError; the reason of the signal. */
async function withStageErrors<T>(signal: AbortSignal, ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    signal.throwIfAborted();
    throw error instanceof SourceError ? stageErrorOf(error) : error;
  }
}

function itemsOf(
  list: ObjectList,
  given: readonly unknown[],
): { readonly items: readonly unknown[]; readonly failed: readonly FailedObject[] } {
  const found = given.filter((item) => list.includes?.(item) ?? true).map((item) => list.read(item));
  const items = found.filter((item) => item !== null);
  const failed = found.filter((item) => item === null).map(() => failureOf(list, MALFORMED.name, MALFORMED.message));
  return { items, failed };
}

function failureOf({ kind }: ObjectList, name: string, message: string): FailedObject {
  return { relation: kind, name, message };
}

function stageErrorOf(error: SourceError): StageFailed | StageWaits {
  const { reason, message, status, retryAt, cause } = error;
  if (reason === 'limit' && retryAt) return new StageWaits(retryAt, { cause });
  // Only errors of the server and of the network can pass.
  const isLasting = reason !== 'other' || (status !== null && status < 500);
  return new StageFailed(message, isLasting, { cause });
}
