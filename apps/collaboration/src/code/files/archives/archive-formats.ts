import type { ArchiveFormat } from '@rookery/git';

/** Suffixes that clients use, with the format that each stands for. Source: reference repositories 3.4. */
const FORMATS = {
  'tar.gz': 'tar.gz',
  tgz: 'tar.gz',
  gz: 'tar.gz',
  tar: 'tar',
  'tar.bz2': 'tar.bz2',
  tbz: 'tar.bz2',
  tbz2: 'tar.bz2',
  tb2: 'tar.bz2',
  bz2: 'tar.bz2',
  zip: 'zip',
} as const satisfies Record<string, ArchiveFormat>;

export type ArchiveSuffix = keyof typeof FORMATS;
export const ARCHIVE_SUFFIXES = Object.keys(FORMATS) as ArchiveSuffix[];

export function findArchiveFormat(suffix: ArchiveSuffix): ArchiveFormat {
  return FORMATS[suffix];
}
