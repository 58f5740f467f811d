import { Controller } from '@nestjs/common';
import { Endpoint, streamedFile } from '@rookery/api-v4';
import type { Call, FileAnswer } from '@rookery/api-v4';
import { InvalidParameters, Refused } from '@rookery/kernel';
import { basicGroupRegistry, basicRegistry, readsPackages } from '../../../packages/packages.permission';
import type { NugetPlace } from '../nuget-places';
import { ShowNugetSymbols } from '../nuget.dto';
import { SymbolReader, toSymbolFileKey } from './symbol-reader';
import { SymbolsQueries } from './symbols.queries';

const PREFIXES = { project: '/projects/:id/packages/nuget', group: '/groups/:id/-/packages/nuget' } as const;
const MAX_CHECKSUMS = 32;

/** Symbols for debuggers, below a project or a group. */
function createNugetSymbolsController(kind: 'project' | 'group') {
  const registry = kind === 'project' ? { ...basicRegistry, may: readsPackages } : basicGroupRegistry;

  @Controller()
  class SymbolsController {
    constructor(
      private readonly symbols: SymbolsQueries,
      private readonly reader: SymbolReader,
    ) {}

    @Endpoint('GET', `${PREFIXES[kind]}/symbolfiles/:file_name/:signature/:same_file_name`, {
      ...(registry as typeof basicGroupRegistry),
      source: 'reference packages-and-admin 4.9',
      about: `Downloads a file of symbols of a NuGet package (${kind}).`,
      params: ShowNugetSymbols,
      answers: streamedFile(),
      fails: [400, 404],
    })
    async download({ within, viewer, params }: Call<ShowNugetSymbols, NugetPlace>): Promise<FileAnswer> {
      const name = toSymbolFileKey(params.file_name);
      if (params.same_file_name.toLowerCase() !== name)
        throw new InvalidParameters(['same_file_name is not the same as file_name']);
      if (!params.checksums?.trim()) throw new Refused('Missing checksum header');
      const asked = {
        name,
        signature: params.signature.toLowerCase(),
        checksums: parseSha256Checksums(params.checksums),
      };
      const found = await this.symbols.show(within, viewer, asked);
      return {
        // Bytes inside an archive are inflated from their beginning, so that there are no ranges.
        stream: await this.reader.openSymbol(found, { entryName: found.entry_name, size: found.symbol_size }),
        mediaType: 'application/octet-stream',
        length: found.symbol_size,
        lastModified: found.created_at,
        version: `${found.sha256}-${found.signature}`,
        filename: params.file_name,
      };
    }
  }

  return SymbolsController;
}

export const SymbolsOfProjectsController = createNugetSymbolsController('project');
export const SymbolsOfGroupsController = createNugetSymbolsController('group');

/** Digests of the header in lower case; those of other algorithms are left out. */
function parseSha256Checksums(header: string): readonly string[] {
  const found = [...header.matchAll(/\bSHA256:([0-9a-f]{64})(?![0-9a-f])/gi)].map(([, digest]) =>
    digest!.toLowerCase(),
  );
  return found.slice(0, MAX_CHECKSUMS);
}
