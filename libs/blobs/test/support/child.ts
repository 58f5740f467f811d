import { Readable } from 'node:stream';
import { openBlobs } from '../../src/open-blobs';
import { CREDENTIALS } from './s3-server';

/**
 * A process of its own for tests: `child.ts <command> <url>` prints one line of JSON.
 * `memory`: growth of the resident memory, in MiB, while 200 MB are stored and read again. `put`: stores 1 GiB, to be killed meanwhile.
 * `loaded`: packages that were loaded after a file was stored.
 */
const [, , command, url = ''] = process.argv;
const MIB = 1024 * 1024;
const blobs = openBlobs({ url, ...CREDENTIALS, sessionToken: null });

function byteStream(total: number): Readable {
  let left = total;
  return new Readable({
    read() {
      const size = Math.min(65_536, left);
      left -= size;
      this.push(size === 0 ? null : Buffer.allocUnsafeSlow(size).fill(left % 251));
    },
  });
}

async function storeBytes(total: number): Promise<string> {
  const { key } = await blobs.put(byteStream(total), { maxBytes: 1024 * MIB, digests: ['md5', 'sha1', 'sha512'] });
  return key;
}

async function readBlob(key: string): Promise<number> {
  let size = 0;
  const { body } = await blobs.open(key);
  for await (const chunk of body as AsyncIterable<Buffer>) size += chunk.length;
  return size;
}

/** Returns the growth of the process's memory during the work, and the result of the work. Units: MiB. */
async function growthDuring<T>(work: () => Promise<T>): Promise<[number, T]> {
  const before = process.memoryUsage.rss();
  let peak = before;
  const watch = setInterval(() => (peak = Math.max(peak, process.memoryUsage.rss())), 10);
  try {
    const result = await work();
    return [Math.round((peak - before) / MIB), result];
  } finally {
    clearInterval(watch);
  }
}

async function measureMemoryGrowth(): Promise<unknown> {
  // Code is loaded and buffers have their size after a smaller file.
  await readBlob(await storeBytes(48 * MIB));
  const [whileStored, key] = await growthDuring(() => storeBytes(200 * MIB));
  const [whileRead, size] = await growthDuring(() => readBlob(key));
  return { whileStored, whileRead, size };
}

async function countLoadedModules(): Promise<unknown> {
  await storeBytes(1000);
  const files = Object.keys(require.cache);
  return {
    aws: files.filter((file) => file.includes('@aws-sdk')).length,
    wasm: files.some((file) => file.includes('hash-wasm')),
  };
}

function putUntilKilled(): Promise<unknown> {
  return blobs.put(byteStream(1024 * MIB), { maxBytes: 1024 * MIB });
}

const commands: Readonly<Record<string, () => Promise<unknown>>> = {
  memory: measureMemoryGrowth,
  loaded: countLoadedModules,
  put: putUntilKilled,
};
void commands[command ?? '']?.().then((result) => process.stdout.write(JSON.stringify(result)));
