import { Controller } from '@nestjs/common';
import { Endpoint, page } from '@rookery/api-v4';
import type { Call, KeysetPage, ProjectScope } from '@rookery/api-v4';
import type { TreeEntry } from '@rookery/git';
import { COUNT_LIMIT, offsetOf } from '@rookery/kernel';
import type { Page, PageRequest } from '@rookery/kernel';
import { readsFilesOf } from '../../repositories/code.permission';
import { FoldersService } from './folders.service';
import type { Folder } from './folders.service';
import { treeEntry } from './tree-entry.presenter';
import { ListTree } from './trees.dto';

@Controller()
export class TreesController {
  constructor(private readonly folders: FoldersService) {}

  @Endpoint('GET', '/projects/:id/repository/tree', {
    ...readsFilesOf,
    about: 'Files and folders of a repository.',
    source: 'reference repositories 3.1',
    params: ListTree,
    answers: page(treeEntry, { hasPageTokens: true }),
    tokenScopes: ['read_repository'],
    fails: [404],
  })
  async list({ within, params, page }: Call<ListTree, ProjectScope>): Promise<Page<TreeEntry> | KeysetPage<TreeEntry>> {
    const folder = await this.folders.list(within, params);
    if (params.pagination === 'none') return { rows: folder.entries(), next: null };
    return params.pagination === 'keyset'
      ? createKeysetPage(folder, page, params.page_token)
      : createOffsetPage(folder, page);
  }
}

function createOffsetPage(folder: Folder, page: PageRequest): Page<TreeEntry> {
  const start = offsetOf(page);
  const end = start + page.perPage;
  const total = folder.length > COUNT_LIMIT ? null : folder.length;
  return { rows: folder.entries(start, end), total, hasNext: folder.length > end };
}

function createKeysetPage(folder: Folder, { perPage }: PageRequest, token = ''): KeysetPage<TreeEntry> {
  const start = token === '' ? 0 : folder.indexOf(token);
  const end = start + perPage;
  const next = folder.length > end ? { page_token: folder.tokenAt(end) } : null;
  return { rows: folder.entries(start, end), next };
}
