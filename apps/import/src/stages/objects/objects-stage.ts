import { Injectable } from '@nestjs/common';
import type { UnimportedObject } from '@rookery/contracts';
import { TextAttachmentImporter } from '../attachments/text-attachments';
import type { AttachmentsSource } from '../attachments/text-attachments';
import { ImportPeopleClient } from '../../people/people';
import { UpstreamError } from '../../sources/upstream-error';
import type { UpstreamPage, UpstreamRepository } from '../../sources/upstream-repository';
import { ImportStageFailed, ImportStagePostponed } from '../stage-failure';
import type { FailedObject } from '../stage-failure';
import type { StagePage, StageProgress } from '../stage-progress';
import type { ObjectList } from './object-list';
import { ImportObjectsClient } from './import-objects-client';

/** The repository whose objects are imported, and the project. */
export interface ObjectsSource {
  readonly projectId: number;
  readonly importKey: string;
  readonly importType: string;
  readonly repository: UpstreamRepository;
  readonly pageSize: number;
  /** Null if attachments stay upstream. */
  readonly attachments: AttachmentsSource | null;
}

/** Objects that the host has sent. */
interface ParsedObjects {
  readonly objects: readonly unknown[];
  readonly failed: readonly FailedObject[];
}

/** Files that texts link to. `failed` are those that were not stored. */
interface StoredFiles {
  readonly fetched: number;
  readonly failed: readonly FailedObject[];
}

/**
 * Records of a stage in its import. `advance` also checks that the import still runs, and throws the errors that end
 * it.
 */
export interface StageJournal {
  progress(): Promise<StageProgress>;
  advance(page: StagePage, failed: readonly FailedObject[]): Promise<void>;
  /** Checks within a page that the import still runs. Errors: those that end it. */
  checkStillRunning(): Promise<void>;
}

/** A host that sends more pages does not end. */
const MAX_PAGES = 10_000;
/** Pages of lists of the items of one page, all together. */
const MAX_MEMBER_PAGES = 1000;
/** Failed objects of one page that are recorded. */
const MAX_FAILED = 1000;
/** Items that are completed and written at once: the host may make each of them large. */
const COMPLETED_AT_ONCE = 10;
/** Maximum number of objects of a newest-first list in memory. Longer lists are written in several runs. */
const REORDERED_AT_ONCE = 1000;
/** Number of objects, from the lists of several items, after which they are written in one request. */
const JOINED_AT_ONCE = 100;
/** Longest time that objects wait for others, since cancellations are noticed only after a write. Units: ms. */
const JOINED_MS = 1000;
const MALFORMED = { name: 'unknown', message: 'The host sent a malformed object.' };

/**
 * Imports the objects of a list, page by page. Collaboration stores a page before the next one is read, and stores it once
 * even if it gets it twice, so an interrupted stage continues. Source: reference identity-and-import 6.6, 6.8; ADR 0195.
 */
@Injectable()
export class ObjectsImportStage {
  constructor(
    private readonly people: ImportPeopleClient,
    private readonly objects: ImportObjectsClient,
    private readonly attachments: TextAttachmentImporter,
  ) {}

  /** Errors: ImportStageFailed; ImportStagePostponed; those of the journal; the reason of the signal. */
  async run(list: ObjectList, source: ObjectsSource, journal: StageJournal, signal: AbortSignal): Promise<void> {
    for (;;) {
      const { isDone, nextPage, pages } = await journal.progress();
      if (isDone) return;
      if (pages >= MAX_PAGES) throw new ImportStageFailed('The host sends too many pages.', true);
      signal.throwIfAborted();
      const address = nextPage ?? source.repository.firstPage(list.path, source.pageSize);
      const page = await this.readPage(source, address, signal);
      const counts = { fetched: 0, imported: 0 };
      const attachments = { fetched: 0, imported: 0 };
      const failed: FailedObject[] = [];
      for await (const read of this.listObjects(list, source, page, signal)) {
        const { files, ...found } = await this.storeLinkedFiles(list, source, read, journal, signal);
        const written = await this.importObjects(list, source, found);
        counts.fetched += written.fetched;
        counts.imported += written.imported;
        attachments.fetched += files.fetched;
        attachments.imported += files.fetched - files.failed.length;
        failed.push(...[...written.failed, ...files.failed].slice(0, MAX_FAILED - failed.length));
        if (list.membersOf) await journal.checkStillRunning();
      }
      await journal.advance({ next: page.next, ...counts, attachments }, failed);
      if (page.next !== null && page.pauseUntil) throw new ImportStagePostponed(page.pauseUntil);
    }
  }

  /** Yields the objects of a page. Lists of its items are read one by one, and no more than a page is in memory. */
  private async *listObjects(
    list: ObjectList,
    source: ObjectsSource,
    page: UpstreamPage,
    signal: AbortSignal,
  ): AsyncGenerator<ParsedObjects> {
    if (!list.membersOf) {
      const size = list.detailsOf ? COMPLETED_AT_ONCE : page.items.length;
      for (let at = 0; at < page.items.length; at += size)
        yield await this.completeItems(list, source, page.items.slice(at, at + size), signal);
      return;
    }
    yield* joinShortPages(this.listMembersOfItems(list, source, page, signal));
  }

  /** Yields the objects in the lists of all items of a page. */
  private async *listMembersOfItems(
    list: ObjectList,
    source: ObjectsSource,
    page: UpstreamPage,
    signal: AbortSignal,
  ): AsyncGenerator<ParsedObjects> {
    const count = { pages: 0 };
    for (const item of page.items) {
      const path = list.membersOf!(item);
      if (path === null) continue;
      const members = this.listMembers(list, source, { item, path, count }, signal);
      yield* list.areMembersNewestFirst ? reorderOldestFirst(members) : members;
    }
  }

  /** Yields the objects in the list of an item, page by page. */
  private async *listMembers(
    list: ObjectList,
    source: ObjectsSource,
    { item, path, count }: { readonly item: unknown; readonly path: string; readonly count: { pages: number } },
    signal: AbortSignal,
  ): AsyncGenerator<ParsedObjects> {
    for (let next: string | null = source.repository.firstPage(path, source.pageSize); next !== null; count.pages++) {
      if (count.pages >= MAX_MEMBER_PAGES) throw new ImportStageFailed('The host sends too many pages.', true);
      const page: UpstreamPage = await this.readPage(source, next, signal);
      yield parseObjects(
        list,
        page.items.flatMap((member) => listObjectsOfListMember(list, member, item)),
      );
      next = page.next;
    }
  }

  /** Stores the files of texts before the texts are written, so that each text is written once. Source: ADR 0202. */
  private async storeLinkedFiles(
    list: ObjectList,
    source: ObjectsSource,
    found: ParsedObjects,
    journal: StageJournal,
    signal: AbortSignal,
  ): Promise<ParsedObjects & { readonly files: StoredFiles }> {
    const { attachments, projectId } = source;
    const files = { fetched: 0, failed: [] as FailedObject[] };
    if (!list.hasBody || attachments === null) return { ...found, files };
    const objects: unknown[] = [];
    for (const object of found.objects) {
      const { body } = object as { readonly body: string | null };
      const given = { name: list.nameOf(object), text: body ?? '' };
      const running = { signal, check: () => journal.checkStillRunning() };
      const { text, fetched, failed } = await this.attachments.storeAttachments(projectId, attachments, given, running);
      objects.push(text === given.text ? object : { ...(object as object), body: text });
      files.fetched += fetched;
      files.failed.push(...failed);
    }
    return { ...found, objects, files };
  }

  private async importObjects(list: ObjectList, source: ObjectsSource, { objects, failed }: ParsedObjects) {
    const problems = await this.writeObjects(list, source, objects);
    const unimported = problems.map(({ index, message }) =>
      createFailedObject(list, list.nameOf(objects[index]), message),
    );
    const [fetched, imported] = [objects.length + failed.length, objects.length - problems.length];
    return { fetched, imported, failed: [...failed, ...unimported] };
  }

  private async readPage({ repository }: ObjectsSource, address: string, signal: AbortSignal): Promise<UpstreamPage> {
    return withStageErrors(signal, async () => {
      const page = await repository.page(address, signal);
      if (page.next === address) throw new UpstreamError('address', 'Invalid pagination URL.');
      return page;
    });
  }

  /** Completes items that lack fields. No more than one answer with such fields is in memory. */
  private async completeItems(
    list: ObjectList,
    source: ObjectsSource,
    items: readonly unknown[],
    signal: AbortSignal,
  ): Promise<ParsedObjects> {
    const { detailsOf } = list;
    if (!detailsOf) return parseObjects(list, items);
    const found: ParsedObjects[] = [];
    for (const item of items) {
      const path = detailsOf(item);
      const read = () => source.repository.object(path!, signal);
      const details = path === null ? null : await withStageErrors(signal, read);
      found.push(parseObjects(list, [details === null ? item : { ...(item as object), ...details }]));
    }
    return { objects: found.flatMap(({ objects }) => objects), failed: found.flatMap(({ failed }) => failed) };
  }

  private async writeObjects(
    list: ObjectList,
    source: ObjectsSource,
    items: readonly unknown[],
  ): Promise<readonly UnimportedObject[]> {
    if (items.length === 0) return [];
    const people = items.flatMap((item) => list.peopleOf(item));
    const { importKey, importType: import_type, projectId: project_id, repository } = source;
    const ownerOf = await this.people.findOwners(importKey, repository.host, people);
    const objects = items.map((item) => list.convert(item, ownerOf));
    return this.objects.writeObjects({ project_id, import_type, kind: list.kind, objects });
  }
}

/** Errors: ImportStageFailed or ImportStagePostponed in the place of UpstreamError; the reason of the signal. */
async function withStageErrors<T>(signal: AbortSignal, ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    signal.throwIfAborted();
    throw error instanceof UpstreamError ? toStageError(error) : error;
  }
}

/**
 * Returns the objects of a member. A newest-first list is reversed later. The parts are therefore reversed here, so
 * that they end in their own order.
 */
function listObjectsOfListMember(list: ObjectList, member: unknown, item: unknown): readonly unknown[] {
  const parts = list.partsOf ? list.partsOf(member, item) : [member];
  return list.areMembersNewestFirst ? parts.toReversed() : parts;
}

function parseObjects(list: ObjectList, items: readonly unknown[]): ParsedObjects {
  const found = items.filter((item) => list.includes?.(item) ?? true).map((item) => list.read(item));
  const objects = found.filter((object) => object !== null);
  const failed = found
    .filter((one) => one === null)
    .map(() => createFailedObject(list, MALFORMED.name, MALFORMED.message));
  return { objects, failed };
}

/** Joins short pages into longer ones, because each request costs more than the objects in it. */
async function* joinShortPages(pages: AsyncIterable<ParsedObjects>): AsyncGenerator<ParsedObjects> {
  let kept: ParsedObjects = { objects: [], failed: [] };
  let since = Date.now();
  for await (const { objects, failed } of pages) {
    kept = { objects: [...kept.objects, ...objects], failed: [...kept.failed, ...failed] };
    const isLong = kept.objects.length + kept.failed.length >= JOINED_AT_ONCE;
    if (!isLong && Date.now() - since < JOINED_MS) continue;
    yield kept;
    kept = { objects: [], failed: [] };
    since = Date.now();
  }
  yield kept;
}

/** Puts older objects first, in runs of about REORDERED_AT_ONCE. The runs keep the order of the list: newest first. */
async function* reorderOldestFirst(pages: AsyncIterable<ParsedObjects>): AsyncGenerator<ParsedObjects> {
  let kept: ParsedObjects = { objects: [], failed: [] };
  for await (const { objects, failed } of pages) {
    kept = { objects: [...kept.objects, ...objects], failed: [...kept.failed, ...failed] };
    if (kept.objects.length + kept.failed.length < REORDERED_AT_ONCE) continue;
    yield { ...kept, objects: kept.objects.toReversed() };
    kept = { objects: [], failed: [] };
  }
  yield { ...kept, objects: kept.objects.toReversed() };
}

function createFailedObject({ kind }: ObjectList, name: string, message: string): FailedObject {
  return { relation: kind, name, message };
}

function toStageError(error: UpstreamError): ImportStageFailed | ImportStagePostponed {
  const { reason, message, status, retryAt, cause } = error;
  if (reason === 'limit' && retryAt) return new ImportStagePostponed(retryAt, { cause });
  // Only errors of the server and of the network can pass.
  const isLasting = reason !== 'other' || (status !== null && status < 500);
  return new ImportStageFailed(message, isLasting, { cause });
}
