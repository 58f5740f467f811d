import { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import { UnreadPageLimiter } from './unread-pages';

/** A sent answer that closes when its client has read it or when it is aborted. */
class WrittenAnswer extends EventEmitter {
  closed = false;
  writableLength = 4 * 1024 * 1024;
  wasCut = false;

  close(): void {
    this.closed = true;
    this.emit('close');
  }

  destroy(): void {
    this.wasCut = true;
    this.close();
  }
}

it('keeps pages in memory until they are read, and aborts the oldest when there are too many', () => {
  const pages = new UnreadPageLimiter();
  const written = Array.from({ length: 6 }, () => new WrittenAnswer());
  const read = (page?: WrittenAnswer): void =>
    void pages.waitForReading(page as unknown as ServerResponse, Date.now() + 60_000);
  const keep = (index: number): void => read(written[index]);
  written[5]!.closed = true;
  keep(5);
  for (const index of [0, 1, 2, 3]) keep(index);
  expect(written.map(({ wasCut }) => wasCut)).toEqual([false, false, false, false, false, false]);
  written[1]!.close();
  keep(4);
  expect(written.some(({ wasCut }) => wasCut)).toBe(false);
  const last = new WrittenAnswer();
  read(last);
  expect(written.map(({ wasCut }) => wasCut)).toEqual([true, false, false, false, false, false]);
  for (const one of [...written, last]) one.close();
});

it('neither waits for a page with few unsent bytes nor aborts another for it', async () => {
  const pages = new UnreadPageLimiter();
  const written = Array.from({ length: 6 }, () =>
    Object.assign(new WrittenAnswer(), { writableLength: 4 * 1024 * 1024 - 1 }),
  );
  for (const one of written) await pages.waitForReading(one as unknown as ServerResponse, Date.now() + 60_000);
  expect(written.some(({ wasCut }) => wasCut)).toBe(false);
});
