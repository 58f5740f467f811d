import { Inject, Injectable } from '@nestjs/common';
import { TooManyRequests } from '@rookery/kernel';
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import { filesSettings } from '../files.config';
import type { FilesSettings } from '../files.config';

/** Files above this size are limited where they are answered within JSON. Units: bytes. */
export const LARGE_FILE_BYTES = 10 * 1024 * 1024;
const WINDOW_SECONDS = 60;

/** Rate limits of costly reads, counted by each process. Source: reference repositories 3.2, 3.4. */
@Injectable()
export class FileRateLimits {
  private readonly largeFiles: RateLimiterMemory;
  private readonly archives: RateLimiterMemory;

  constructor(@Inject(filesSettings.token) private readonly settings: FilesSettings) {
    const { largeFilesPerMinute, archivesPerMinute } = settings;
    this.largeFiles = new RateLimiterMemory({ points: largeFilesPerMinute, duration: WINDOW_SECONDS });
    this.archives = new RateLimiterMemory({ points: archivesPerMinute, duration: WINDOW_SECONDS });
  }

  /** Counts a large file in JSON. `rawPath` is the route without a limit. Errors: TooManyRequests. */
  async countLargeFile(projectId: number, rawPath: string): Promise<void> {
    const setting = 'REPOSITORY_LARGE_FILES_PER_MINUTE_COUNT';
    const limit = { name: 'repository_large_files', most: this.settings.largeFilesPerMinute, setting };
    const text =
      `Requests for files larger than ${LARGE_FILE_BYTES} bytes are limited to ${limit.most} a minute. ` +
      `Use ${rawPath} instead.`;
    await this.consumeRateLimit(this.largeFiles, String(projectId), { limit, text });
  }

  /**
   * Counts an archive. `caller` is the id of the user, or the address of an anonymous caller. Errors: TooManyRequests.
   */
  async countArchive(caller: string, projectId: number): Promise<void> {
    const setting = 'REPOSITORY_ARCHIVES_PER_MINUTE_COUNT';
    const limit = { name: 'repository_archives', most: this.settings.archivesPerMinute, setting };
    const text = 'This archive has been requested too many times. Try again later.';
    await this.consumeRateLimit(this.archives, `${projectId} ${caller}`, { limit, text });
  }

  private async consumeRateLimit(
    limiter: RateLimiterMemory,
    key: string,
    { limit, text }: { readonly limit: { name: string; most: number; setting: string }; readonly text: string },
  ): Promise<void> {
    if (!this.settings.rateLimits || limit.most === 0) return;
    try {
      await limiter.consume(key);
    } catch (refusal) {
      if (!(refusal instanceof RateLimiterRes)) throw refusal;
      const seconds = Math.max(1, Math.ceil(refusal.msBeforeNext / 1000));
      throw new TooManyRequests(seconds, { ...limit, each: 'minute' }, text);
    }
  }
}

/** Returns the caller whose archives are counted. Processes of the previous release name none. */
export function parseArchiveCaller(caller: unknown): string {
  return typeof caller === 'string' ? caller : '';
}
