import { Controller, Inject } from '@nestjs/common';
import { InternalRoute, JsonText } from '@rookery/api-v4';
import type { InternalRequest } from '@rookery/api-v4';
import { DIRECTORY_COPIES, INTERNAL_CALLERS, INTERNAL_PATHS } from '@rookery/contracts';
import type { DirectoryHeadAnswer } from '@rookery/contracts';
import { InvalidParameters } from '@rookery/kernel';
import { DirectoryChangeFeed } from './change-feed';
import type { ChangeQuestion } from './change-feed';
import { ISSUED_ID_KINDS } from './history/histories.queries';

/** Longest wait of a poll, shorter than the timeouts of proxies and of the server itself. Units: ms. */
const MAX_WAIT_MS = 20_000;
const MAX_LIMIT = 10_000;

/**
 * Internal endpoints of the directory for services and gateways. They require an internal key and are not reachable
 * from outside.
 */
@Controller()
export class DirectoryController {
  constructor(@Inject(DirectoryChangeFeed) private readonly feed: DirectoryChangeFeed) {}

  @InternalRoute('GET', INTERNAL_PATHS.directoryChanges, INTERNAL_CALLERS.directoryChanges)
  async changes({ query, signal }: InternalRequest): Promise<JsonText> {
    const request = {
      after: readClampedInteger(query, 'after', 0, Number.MAX_SAFE_INTEGER),
      epoch: readQueryTextOrEmpty(query, 'epoch'),
      life: readQueryTextOrEmpty(query, 'life'),
      reader: DIRECTORY_COPIES.find((name) => name === query['reader']) ?? null,
      seen: parseHighestSeenIds(readQueryTextOrEmpty(query, 'seen')),
      waitMs: readClampedInteger(query, 'wait_ms', 0, MAX_WAIT_MS),
      limit: readClampedInteger(query, 'limit', 1, MAX_LIMIT, 1000),
    };
    return new JsonText(await this.feed.listChanges(request, signal));
  }

  @InternalRoute('GET', INTERNAL_PATHS.directoryHead, INTERNAL_CALLERS.directoryHead)
  head(): Promise<DirectoryHeadAnswer> {
    return this.feed.readHead();
  }

  @InternalRoute('POST', INTERNAL_PATHS.decide, INTERNAL_CALLERS.decide)
  async findWithAccess({ body }: InternalRequest): Promise<JsonText> {
    return new JsonText(await this.feed.findWithAccess(parseChangeQuestion(body)));
  }
}

function readQueryTextOrEmpty(query: Readonly<Record<string, unknown>>, name: string): string {
  return typeof query[name] === 'string' ? query[name] : '';
}

/** Parses the highest ids by kind from JSON. */
function parseHighestSeenIds(json: string): Readonly<Record<string, number>> {
  const seen: unknown = json === '' ? {} : parseJsonOrNull(json);
  if (typeof seen !== 'object' || seen === null) throw new InvalidParameters(['seen is invalid']);
  const known = Object.entries(seen).filter(([kind]) => ISSUED_ID_KINDS.includes(kind));
  if (!known.every(([, id]) => Number.isSafeInteger(id) && id > 0)) throw new InvalidParameters(['seen is invalid']);
  return Object.fromEntries(known) as Readonly<Record<string, number>>;
}

function parseJsonOrNull(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return null;
  }
}

/** Parses a number of the query and clamps it to its bounds. */
function readClampedInteger(
  query: Readonly<Record<string, unknown>>,
  name: string,
  min: number,
  max: number,
  fallback = min,
): number {
  const text = query[name];
  if (text === undefined) return fallback;
  if (typeof text !== 'string' || !/^\d{1,16}$/.test(text)) throw new InvalidParameters([`${name} is invalid`]);
  return Math.min(Math.max(Number(text), min), max);
}

function parseChangeQuestion(body: Readonly<Record<string, unknown>>): ChangeQuestion {
  const { viewer_id: viewerId, project, group } = body;
  const isReference = (value: unknown): value is number | string =>
    Number.isSafeInteger(value) || (typeof value === 'string' && !value.includes('\0'));
  if (viewerId !== null && !Number.isSafeInteger(viewerId)) throw new InvalidParameters(['viewer_id is invalid']);
  const asker = viewerId as number | null;
  if (isReference(project)) return { viewerId: asker, kind: 'project', ref: project };
  if (isReference(group)) return { viewerId: asker, kind: 'group', ref: group };
  throw new InvalidParameters(['project, group are missing']);
}
