import { once } from 'node:events';
import { PassThrough, Writable } from 'node:stream';
import { copyInBatches } from './batched-output';

const PIECE = Buffer.alloc(8192, 'x');

/** A target that keeps the size of each piece, and takes the next one when `free` is called, or at once. */
function createSizeRecorder(isSlow = false) {
  const seen: number[] = [];
  let free = (): void => undefined;
  const target = new Writable({
    highWaterMark: 1,
    write: (piece: Buffer, _, done) => {
      seen.push(piece.length);
      if (isSlow) free = done;
      else done();
    },
  });
  return { seen, target, free: () => free() };
}

const sumSizes = (seen: readonly number[]): number => seen.reduce((sum, one) => sum + one, 0);
const createSource = () => new PassThrough({ highWaterMark: 65_536 });

it('passes short output on as it arrives', async () => {
  const [from, { seen, target }] = [createSource(), createSizeRecorder()];
  copyInBatches(from, target);
  from.end('one');
  await once(from, 'end');
  expect(seen).toEqual([3]);
});

it('passes long output on in large pieces, and all of it', async () => {
  const [from, { seen, target }] = [createSource(), createSizeRecorder()];
  copyInBatches(from, target);
  for (let n = 0; n < 400; n += 1) {
    if (!from.write(PIECE)) await once(from, 'drain');
    await new Promise(setImmediate);
  }
  from.end();
  await once(from, 'end');
  expect(sumSizes(seen)).toBe(400 * PIECE.length);
  expect(seen.length).toBeLessThan(150);
});

it('waits for a slow target', async () => {
  const [from, { seen, target, free }] = [createSource(), createSizeRecorder(true)];
  copyInBatches(from, target);
  from.write(PIECE);
  await once(from, 'readable');
  from.end(PIECE);
  await new Promise(setImmediate);
  expect(sumSizes(seen)).toBe(PIECE.length);
  free();
  free();
  await once(from, 'end');
  expect(sumSizes(seen)).toBe(2 * PIECE.length);
});

it('leaves the rest to others once it is stopped', async () => {
  const [from, { seen, target }] = [createSource(), createSizeRecorder()];
  const stop = copyInBatches(from, target);
  stop();
  from.end('rest');
  from.resume();
  await once(from, 'end');
  expect(seen).toEqual([]);
});
