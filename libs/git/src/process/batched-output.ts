import type { Readable, Writable } from 'node:stream';

/** Output up to here is passed on as it arrives. Units: bytes. */
const AT_ONCE_BYTES = 256 * 1024;
/** A piece of this size is worth passing on. Units: bytes. */
const LARGE_BYTES = 48 * 1024;
/** Longest wait for a large piece. */
const WAIT_MS = 2;

/**
 * Copies the output of a process to a stream, long output in few large pieces: git writes 8 KiB at a time, and a piece costs
 * two services the same whatever its size. The target is not ended. Returns a function that ends the copying and leaves the
 * source unread.
 */
export function copyInBatches(source: Readable, target: Writable): () => void {
  let copied = 0;
  let isFull = false;
  let timer: NodeJS.Timeout | undefined;
  const take = (): void => {
    clearTimeout(timer);
    timer = undefined;
    isFull = false;
    const piece = source.read() as Buffer | null;
    if (piece === null) return;
    copied += piece.length;
    if (target.write(piece)) return;
    isFull = true;
    target.once('drain', take);
  };
  const onReadable = (): void => {
    if (isFull) return;
    if (copied < AT_ONCE_BYTES || source.readableLength >= LARGE_BYTES) take();
    else timer ??= setTimeout(take, WAIT_MS);
  };
  source.on('readable', onReadable);
  return () => {
    clearTimeout(timer);
    target.off('drain', take);
    source.off('readable', onReadable);
  };
}
