import { Controller } from '@nestjs/common';
import { Endpoint, json, noContent } from '@rookery/api-v4';
import type { Call, ProjectScope } from '@rookery/api-v4';
import type { SignedInViewer } from '@rookery/kernel';
import { addsCommitsOf } from '../../repositories/code.permission';
import { decodeContent } from './base64-content';
import type { FileAction } from './file-action';
import { FILE_REFUSALS, FileChanges } from './file-changes';
import { CHANGE_BODY_LIMIT, CreateFile, RemoveFile, UpdateFile } from './file-changes.dto';

const FILE = '/projects/:id/repository/files/:file_path';
const writes = { ...addsCommitsOf, source: 'reference repositories 3.6', fails: [400] } as const;
const CHANGED = {
  type: 'object',
  properties: {
    file_path: { type: 'string', description: 'Path of the file.' },
    branch: { type: 'string', description: 'Branch that has the commit.' },
  },
  required: ['file_path', 'branch'],
} as const;
type ChangedFile = Pick<CreateFile, 'file_path' | 'branch'>;
type WriteCall<P> = Call<P, ProjectScope, SignedInViewer>;

/** Commits that change one file. Source: reference repositories 3.6. */
@Controller()
export class FileChangesController {
  constructor(private readonly changes: FileChanges) {}

  @Endpoint('POST', FILE, {
    ...writes,
    about: 'Adds a file.',
    params: CreateFile,
    answers: json<ChangedFile>(CHANGED, { status: 201 }),
    bodyLimit: CHANGE_BODY_LIMIT,
  })
  create({ params, ...call }: WriteCall<CreateFile>): Promise<ChangedFile> {
    const { file_path: path, execute_filemode: isExecutable } = params;
    const content = decodeContent(params.content, params.encoding);
    return this.commitFileAction({ params, ...call }, { kind: 'create', path, content, isExecutable });
  }

  @Endpoint('PUT', FILE, {
    ...writes,
    about: 'Changes the content of a file.',
    params: UpdateFile,
    answers: json<ChangedFile>(CHANGED),
    bodyLimit: CHANGE_BODY_LIMIT,
  })
  update({ params, ...call }: WriteCall<UpdateFile>): Promise<ChangedFile> {
    const { file_path: path, execute_filemode: isExecutable, last_commit_id: lastCommitId } = params;
    const content = decodeContent(params.content, params.encoding);
    return this.commitFileAction({ params, ...call }, { kind: 'update', path, content, isExecutable, lastCommitId });
  }

  @Endpoint('DELETE', FILE, { ...writes, about: 'Removes a file.', params: RemoveFile, answers: noContent() })
  async remove({ params, ...call }: WriteCall<RemoveFile>): Promise<void> {
    const { file_path: path, last_commit_id: lastCommitId } = params;
    await this.commitFileAction({ params, ...call }, { kind: 'delete', path, lastCommitId });
  }

  private async commitFileAction(
    { within, viewer, params }: WriteCall<RemoveFile>,
    action: FileAction,
  ): Promise<ChangedFile> {
    const {
      branch,
      commit_message: message,
      start_branch: startBranch,
      author_name: name,
      author_email: email,
    } = params;
    const author = name && email ? { name, email } : null;
    const request = {
      branch,
      message,
      actions: [action],
      startBranch: startBranch || undefined,
      isForced: false,
      author,
    };
    await this.changes.commit(within, viewer, request, { refusals: FILE_REFUSALS });
    return { file_path: params.file_path, branch };
  }
}
