import { setTimeout as delay } from 'node:timers/promises';
import { AttachmentLinks } from '../../sources/attachments/attachment-links';
import type { ArrivingAttachment, UpstreamAttachments } from '../../sources/attachments/upstream-attachments';
import { UpstreamError } from '../../sources/upstream-error';
import { AttachmentBudget } from './attachment-budget';
import type { AttachmentLimits } from './attachment-budget';
import type { ProjectUploads } from './project-uploads';
import { TextAttachmentImporter } from './text-attachments';

const MIB = 1024 * 1024;
const links = new AttachmentLinks('https://git.example', 'wren/heron');
const addressOf = (n: number): string => `https://git.example/assets/${n}`;
const textOf = (...numbers: readonly number[]): string => numbers.map((n) => `![x](${addressOf(n)})`).join(' ');

interface FakeHostOptions {
  /** Whether files with even numbers are missing. */
  readonly isHalfMissing?: boolean;
  /** Whether each file breaks off after its last byte. */
  readonly isBroken?: boolean;
  /** Time that a file takes. Units: milliseconds. */
  readonly ms?: number;
}

/** A project and an upstream host, whose files have 0.6 MiB. */
class ImportWithFakes {
  readonly requested: string[] = [];
  private readonly sizes = new Map<string, number>();
  private readonly stage = new TextAttachmentImporter({
    findUploads: async (_project: number, addresses: readonly string[]) => ({
      stored: new Map(addresses.filter((one) => this.sizes.has(one)).map((one) => [one, this.upload(one)])),
      total: { files: this.sizes.size, bytes: [...this.sizes.values()].reduce((sum, size) => sum + size, 0) },
    }),
    storeUpload: async (_project: number, address: string, { content }: ArrivingAttachment) => {
      let size = 0;
      for await (const chunk of content) size += chunk.length;
      this.sizes.set(address, size);
      return this.upload(address);
    },
  } as unknown as ProjectUploads);
  private readonly budget: AttachmentBudget;

  constructor(
    limits: Partial<AttachmentLimits>,
    private readonly host: FakeHostOptions = {},
    failed = 0,
  ) {
    this.budget = new AttachmentBudget({ files: 100, bytes: 100 * MIB, ms: 60_000, ...limits }, failed);
  }

  async store(text: string): Promise<{ readonly stored: number; readonly messages: readonly string[] }> {
    const upstream = { links, open: async (address: string) => this.open(address) } as unknown as UpstreamAttachments;
    const source = {
      upstream,
      unanswered: new Map<string, number>(),
      isLastTry: true,
      canWait: () => true,
      budget: this.budget,
    };
    const running = { signal: new AbortController().signal, check: async () => undefined };
    const { failed, fetched } = await this.stage.storeAttachments(1, source, { name: '#1', text }, running);
    return { stored: fetched - failed.length, messages: failed.map(({ message }) => message) };
  }

  private open(address: string): ArrivingAttachment {
    this.requested.push(address);
    const { isHalfMissing, isBroken, ms = 0 } = this.host;
    if (isHalfMissing && Number(address.at(-1)) % 2 === 0) throw new UpstreamError('other', 'gone', { status: 404 });
    const chunk = Buffer.alloc(0.2 * MIB);
    const content = async function* (): AsyncGenerator<Buffer> {
      yield* [chunk, chunk, chunk];
      await delay(ms);
      if (isBroken) throw new UpstreamError('other', 'broken');
    };
    return { filename: 'x.png', content: content(), close: async () => undefined };
  }

  private upload(address: string) {
    const url = `/uploads/${address.at(-1)}`;
    return { url, markdown: `![x](${url})` };
  }
}

it('requests no more files after the one that exceeds the bytes of the import', async () => {
  const run = new ImportWithFakes({ files: 100, bytes: MIB });
  const message = 'An import may have 100 files with 1048576 bytes in all.';
  expect(await run.store(textOf(1, 2, 3))).toEqual({ stored: 1, messages: [message, message] });
  expect(await run.store(textOf(1, 4))).toEqual({ stored: 1, messages: [message] });
  expect(run.requested).toEqual([1, 2].map(addressOf));
});

it('requests no more files than an import may have, over all texts and with those that failed', async () => {
  const run = new ImportWithFakes({ files: 5 }, { isHalfMissing: true }, 1);
  const message = 'An import may have 5 files with 104857600 bytes in all.';
  expect(await run.store(textOf(1, 2))).toEqual({ stored: 1, messages: ['gone'] });
  expect(await run.store(textOf(1, 3, 4, 5))).toEqual({ stored: 2, messages: ['gone', message] });
  expect(run.requested).toEqual([1, 2, 3, 4].map(addressOf));
});

it('requests no more files after a host has sent the bytes of the import in files that broke off', async () => {
  const run = new ImportWithFakes({ bytes: MIB }, { isBroken: true });
  const message = 'An import may have 100 files with 1048576 bytes in all.';
  expect(await run.store(textOf(1, 2, 3))).toEqual({ stored: 0, messages: ['broken', message, message] });
  expect(run.requested).toEqual([1, 2].map(addressOf));
});

it('requests no more files once a host has taken the time of the import', async () => {
  const run = new ImportWithFakes({ ms: 20 }, { ms: 30 });
  const message = 'The files of the import took more than 0.02 seconds.';
  expect(await run.store(textOf(1, 2))).toEqual({ stored: 1, messages: [message] });
  expect(await run.store(textOf(1, 3))).toEqual({ stored: 1, messages: [message] });
  expect(run.requested).toEqual([addressOf(1)]);
});
