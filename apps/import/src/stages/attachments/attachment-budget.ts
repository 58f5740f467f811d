import type { ImportedTotal } from '@rookery/contracts';
import { UpstreamError } from '../../sources/upstream-error';

/** Limits of the files of one import. Units: `ms` of waiting for files in one try of the import. */
export interface AttachmentLimits extends ImportedTotal {
  readonly ms: number;
}

/** Number, size and time of the files that one import may request. Source: reference identity-and-import 6.6. */
export class AttachmentBudget {
  private used: ImportedTotal = { files: 0, bytes: 0 };
  /** Bytes of files that broke off in this try. A host could send them without end. */
  private lostBytes = 0;
  private spentMs = 0;
  private isExceeded = false;

  /** `failed` is the number of requested files that were not stored. */
  constructor(
    private readonly limits: AttachmentLimits,
    private failed: number,
  ) {}

  get isSpent(): boolean {
    const { files, bytes } = this.limits;
    return this.isExceeded || this.isTimeSpent || this.used.files + this.failed >= files || this.usedBytes >= bytes;
  }

  get message(): string {
    const { files, bytes, ms } = this.limits;
    if (this.isTimeSpent) return `The files of the import took more than ${ms / 1000} seconds.`;
    return `An import may have ${files} files with ${bytes} bytes in all.`;
  }

  private get isTimeSpent(): boolean {
    return this.spentMs >= this.limits.ms;
  }

  private get usedBytes(): number {
    return this.used.bytes + this.lostBytes;
  }

  /** Sets the total of the stored files. */
  setStoredTotal(stored: ImportedTotal): void {
    this.used = stored;
  }

  noteFailed(): void {
    this.failed += 1;
  }

  /** Counts the time of a request. Errors: those of the request. */
  async timeRequest<T>(request: () => Promise<T>): Promise<T> {
    const begun = performance.now();
    try {
      return await request();
    } finally {
      this.spentMs += performance.now() - begun;
    }
  }

  /** Yields the content of a file and counts it. Errors: those of the content; UpstreamError if the budget ends within it. */
  async *countBytes(content: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    let size = 0;
    let isWhole = false;
    try {
      for await (const chunk of content) {
        size += chunk.length;
        this.isExceeded = this.usedBytes + size > this.limits.bytes;
        if (this.isExceeded) throw new UpstreamError('other', this.message);
        yield chunk;
      }
      isWhole = true;
    } finally {
      if (isWhole) this.used = { files: this.used.files + 1, bytes: this.used.bytes + size };
      else this.lostBytes += size;
    }
  }
}
