import type { ImportedTotal } from '@rookery/contracts';
import { SourceError } from '../../sources/source-error';

/** Number and size of the files that one import may request. Source: reference identity-and-import 6.6. */
export class AttachmentBudget {
  private used: ImportedTotal = { files: 0, bytes: 0 };
  private isExceeded = false;

  /** Shape: `failed` is the number of requested files that were not stored. */
  constructor(
    private readonly limits: ImportedTotal,
    private failed: number,
  ) {}

  get isSpent(): boolean {
    const { files, bytes } = this.limits;
    return this.isExceeded || this.used.files + this.failed >= files || this.used.bytes >= bytes;
  }

  get message(): string {
    const { files, bytes } = this.limits;
    return `An import may have ${files} files with ${bytes} bytes in all.`;
  }

  /** Sets the total of the stored files. */
  setStoredTotal(stored: ImportedTotal): void {
    this.used = stored;
  }

  noteFailed(): void {
    this.failed += 1;
  }

  /** Yields the content of a file and counts it. Errors: those of the content; SourceError if the budget ends within it. */
  async *counted(content: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    let size = 0;
    for await (const chunk of content) {
      size += chunk.length;
      this.isExceeded = this.used.bytes + size > this.limits.bytes;
      if (this.isExceeded) throw new SourceError('other', this.message);
      yield chunk;
    }
    this.used = { files: this.used.files + 1, bytes: this.used.bytes + size };
  }
}
