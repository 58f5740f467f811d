import { setTimeout as delay } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import type { ImportedAttachment } from '@rookery/contracts';
import { EgressError } from '@rookery/egress';
import type { EgressReason } from '@rookery/egress';
import type { UpstreamAttachments } from '../../sources/attachments/upstream-attachments';
import { UpstreamError } from '../../sources/upstream-error';
import { ImportStageFailed, ImportStagePostponed } from '../stage-failure';
import type { FailedObject } from '../stage-failure';
import type { AttachmentBudget } from './attachment-budget';
import { ProjectUploads } from './project-uploads';

/**
 * Source of the attachments of one import. `unanswered` has the number of consecutive requests without an answer by
 * origin, in this try of the import. Links are left as they are for a host that is away in the last try only.
 */
export interface AttachmentsSource {
  readonly upstream: UpstreamAttachments;
  readonly unanswered: Map<string, number>;
  readonly isLastTry: boolean;
  /** Whether the import may wait for the end of a rate limit. If not, a limited file is one that cannot be stored. */
  canWait(): boolean;
  readonly budget: AttachmentBudget;
}

/** A text whose files are stored. `text` links to the uploads. `failed` lists the files that were not stored. */
export interface StoredText {
  readonly text: string;
  readonly fetched: number;
  readonly failed: readonly FailedObject[];
}

const TRIES = 2;
/** Wait before the second try. Units: ms. */
const RETRY_MS = 250;
/** Consecutive requests without an answer after which a host gets no more requests for files in this try of the import. */
const MAX_UNANSWERED = 5;
/** Errors of a host that may be away. After others, such as a file that is too large, it may send the next file. */
const NO_ANSWER: ReadonlySet<EgressReason> = new Set(['unreachable', 'too slow', 'name unknown']);
const TOO_LONG = 'The text would be too long with the new links.';
const AWAY = 'The host did not send the files before this one.';

/**
 * Stores the files that texts link to as uploads of the project. A file that is stored already is not requested again, so
 * an interrupted import stores each one once. Source: reference identity-and-import 6.6; ADR 0202.
 */
@Injectable()
export class TextAttachmentImporter {
  constructor(private readonly uploads: ProjectUploads) {}

  /**
   * Stores the files that a text links to, and returns the text with links to the uploads. `name` names the object of
   * the text in failures. `check` runs after each requested file. Errors: ImportStageFailed for a host that is away;
   * ImportStagePostponed; those of `check` and of package; the reason of the signal.
   */
  async storeAttachments(
    projectId: number,
    source: AttachmentsSource,
    { name, text }: { readonly name: string; readonly text: string },
    { check, signal }: { check(): Promise<void>; readonly signal: AbortSignal },
  ): Promise<StoredText> {
    const { budget, upstream } = source;
    const { links } = upstream;
    const addresses = links.findLinks(text);
    if (addresses.length === 0) return { text, fetched: 0, failed: [] };
    const { stored, total } = await this.uploads.findUploads(projectId, addresses);
    budget.setStoredTotal(total);
    const failed: FailedObject[] = [];
    for (const address of addresses) {
      if (stored.has(address)) continue;
      if (budget.isSpent) {
        failed.push(createFailedAttachment(name, address, budget.message));
        continue;
      }
      const result = await this.storeWithRetries(projectId, source, address, signal);
      if (typeof result === 'string') failed.push(createFailedAttachment(name, address, result));
      else stored.set(address, result);
      await check();
    }
    const rewritten = links.replaceLinks(text, stored);
    if (rewritten === null)
      failed.push(...[...stored.keys()].map((address) => createFailedAttachment(name, address, TOO_LONG)));
    return { text: rewritten ?? text, fetched: addresses.length, failed };
  }

  /** Returns the stored file, or the reason why there is none. */
  private async storeWithRetries(
    projectId: number,
    source: AttachmentsSource,
    address: string,
    signal: AbortSignal,
  ): Promise<ImportedAttachment | string> {
    const { budget, unanswered, isLastTry } = source;
    const { origin } = new URL(address);
    if ((unanswered.get(origin) ?? 0) >= MAX_UNANSWERED) return AWAY;
    for (let attempt = 1; ; attempt += 1) {
      try {
        const stored = await budget.timeRequest(() => this.fetchAndStore(projectId, source, address, signal));
        unanswered.delete(origin);
        return stored;
      } catch (error) {
        signal.throwIfAborted();
        if (!(error instanceof UpstreamError)) throw error;
        if (error.reason === 'limit' && error.retryAt && source.canWait())
          throw new ImportStagePostponed(error.retryAt, { cause: error });
        if (!isTransientError(error) || attempt === TRIES) {
          const count = isUnansweredError(error) ? (unanswered.get(origin) ?? 0) + 1 : 0;
          unanswered.set(origin, count);
          if (count >= MAX_UNANSWERED && !isLastTry)
            throw new ImportStageFailed(error.message, false, { cause: error });
          budget.noteFailed();
          return error.message;
        }
        await delay(RETRY_MS, undefined, { signal });
      }
    }
  }

  private async fetchAndStore(
    projectId: number,
    { budget, upstream }: AttachmentsSource,
    address: string,
    signal: AbortSignal,
  ): Promise<ImportedAttachment> {
    const arriving = await upstream.open(address, signal);
    try {
      const file = { filename: arriving.filename, content: budget.countBytes(arriving.content) };
      return await this.uploads.storeUpload(projectId, address, file, signal);
    } finally {
      await arriving.close();
    }
  }
}

function isUnansweredError({ cause }: UpstreamError): boolean {
  return cause instanceof EgressError && NO_ANSWER.has(cause.reason);
}

/** Whether a repetition may succeed: after an error of the server or a broken connection, but not after a time limit. */
function isTransientError({ status, cause }: UpstreamError): boolean {
  return status === null ? cause instanceof EgressError && cause.reason === 'unreachable' : status >= 500;
}

/** Queries of addresses may hold tokens, so failures do not show them. */
function createFailedAttachment(name: string, address: string, message: string): FailedObject {
  const { origin, pathname } = new URL(address);
  return { relation: 'attachment', name: `${name}: ${origin}${pathname}`, message };
}
