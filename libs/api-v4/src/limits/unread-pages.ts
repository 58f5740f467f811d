import { once } from 'node:events';
import type { ServerResponse } from 'node:http';

/** Smaller ones may be forgotten as soon as they are written: many of them are less than one page of the largest. */
const LEAST_BYTES = 4 * 1024 * 1024;
/** How many pages may lie in memory until their clients have read them. A page holds 32 MiB of texts at most. */
const MOST = 4;

/**
 * Heavy pages that are written and not yet read. Whoever reads slowly keeps no other caller from being answered: when
 * more pages than these lie here, the one that has lain longest is cut off.
 */
export class UnreadPages {
  private readonly pages = new Set<ServerResponse>();

  /** Resolves once the client has read the page or left, or when little is left of it. Bounds: whoever reads slowly is waited for until the deadline. */
  async read(page: ServerResponse, deadline: number): Promise<void> {
    if (page.closed || page.writableLength < LEAST_BYTES) return;
    this.keep(page);
    const late = AbortSignal.timeout(Math.max(0, deadline - Date.now()));
    if (!page.closed) await once(page, 'close', { signal: late }).catch(() => undefined);
  }

  private keep(page: ServerResponse): void {
    this.pages.add(page);
    page.once('close', () => this.pages.delete(page));
    if (this.pages.size <= MOST) return;
    const [oldest] = this.pages;
    this.pages.delete(oldest!);
    oldest!.destroy();
  }
}
