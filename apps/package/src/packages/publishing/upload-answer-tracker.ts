import { Inject, Injectable } from '@nestjs/common';
import type { Viewer } from '@rookery/kernel';
import { statement, Work } from '@rookery/persistence';
import type { Logger } from '@rookery/platform';
import { runDetached, LOGGER } from '@rookery/platform';

/** The stored file that has the name of an upload. Its columns are null without such a file. */
export interface EarlierUpload {
  readonly sha256: string | null;
  /** Credential of the upload until its answer is known to be written, then null. See `identifyUploadCredential`. */
  readonly unanswered_token_id: number | null;
}

const ACKNOWLEDGE = statement<{ file: number }, never>(
  'package_files_acknowledge',
  `update package_files set unanswered_token_id = null where id = :file::bigint and unanswered_token_id is not null`,
);

/** The upload under a key whose turn it is. */
export interface UploadTurn {
  /** Names the file that the upload stored or repeats, for the record of its answer. */
  stored(fileId: number): void;
}

/**
 * Records which uploads were answered. Clients repeat an upload whose answer they did not get, and such a repetition
 * succeeds; a second upload after an answer is refused. For formats that refuse a second file of the same name.
 * Source: reference packages-and-admin 4.1.
 */
@Injectable()
export class UploadAnswerTracker {
  private readonly last = new Map<string, Promise<void>>();

  constructor(
    private readonly work: Work,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /**
   * Waits for the turn of an upload. Uploads under one key that this process received follow each other. Each turn
   * lasts until the upload is answered and the answer is recorded, so that only a lost answer makes a repetition.
   * `answered` resolves with whether the client was sent the whole answer.
   */
  async beginTurn(key: string, answered: Promise<boolean>): Promise<UploadTurn> {
    const before = this.last.get(key);
    let file: number | null = null;
    const own = runDetached(async () => {
      await before;
      if ((await answered) && file !== null) await this.acknowledgeUpload(file);
    }).finally(() => {
      if (this.last.get(key) === own) this.last.delete(key);
    });
    this.last.set(key, own);
    await before;
    return { stored: (fileId) => void (file = fileId) };
  }

  private async acknowledgeUpload(file: number): Promise<void> {
    try {
      await this.work.run((tx) => tx.run(ACKNOWLEDGE, { file }));
    } catch (error) {
      this.logger.warn({ err: error, file }, 'the answer to an upload was not recorded');
    }
  }
}

/** Whether an upload of these bytes is the repetition of one whose answer the client did not get. */
export function isRetryOfUnansweredUpload(earlier: EarlierUpload, sha256: string | undefined, viewer: Viewer): boolean {
  const credential = identifyUploadCredential(viewer);
  return credential !== null && earlier.unanswered_token_id === credential && earlier.sha256 === sha256;
}

/**
 * Returns the credential whose holder may repeat an upload: the id of the token, or minus the id of the job, whose token
 * has no id. Returns null for a caller without either.
 */
export function identifyUploadCredential({ tokenId, job }: Viewer): number | null {
  return tokenId ?? (job ? -job.id : null);
}
