import { once } from 'node:events';
import type { RawReply } from '../call/api-request';

/** Pages with fewer unsent bytes are not tracked: many of them together are smaller than one of the largest. */
const MIN_BYTES = 4 * 1024 * 1024;
/** Number of unread pages in memory. A page has at most 32 MiB of texts. */
const MAX_PAGES = 4;

/**
 * Limits the heavy pages whose clients have not read them yet. When there are more than MAX_PAGES, the connection of the
 * oldest is closed, so that slow clients do not delay other callers.
 */
export class UnreadPageLimiter {
  private readonly pages = new Set<RawReply>();

  /**
   * Resolves once the client has read the page or left. Resolves at once if few bytes are unsent. Bounds: waits until
   * the deadline.
   */
  async waitForReading(page: RawReply, deadline: number): Promise<void> {
    if (page.closed || page.writableLength < MIN_BYTES) return;
    this.trackUnreadPage(page);
    const late = AbortSignal.timeout(Math.max(0, deadline - Date.now()));
    if (!page.closed) await once(page, 'close', { signal: late }).catch(() => undefined);
  }

  private trackUnreadPage(page: RawReply): void {
    this.pages.add(page);
    page.once('close', () => this.pages.delete(page));
    if (this.pages.size <= MAX_PAGES) return;
    const [oldest] = this.pages;
    this.pages.delete(oldest!);
    oldest!.destroy();
  }
}
