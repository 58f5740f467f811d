import { Controller } from '@nestjs/common';
import type { Call, FileAnswer, GroupScope, ProjectScope } from '@rookery/api-v4';
import { anyone, Endpoint, file, group as inGroup, project as inProject } from '@rookery/api-v4';
import { NotFound } from '@rookery/kernel';
import { ShowAvatar, ShowGroupOrProjectAvatar } from './avatars.dto';
import { AvatarsQueries } from './avatars.queries';
import type { AvatarKind } from './avatars.service';

const FILES = 'reference identity-and-import 2.6';
const picture = { may: anyone(), answers: file('image/*'), fails: [304, 404] } as const;
const ofGroup = { ...picture, within: inGroup('id') } as const;
const ofProject = { ...picture, within: inProject('id') } as const;

interface FilenameParams {
  readonly filename?: string;
}

@Controller()
export class AvatarsController {
  constructor(private readonly queries: AvatarsQueries) {}

  @Endpoint('GET', '//uploads/-/system/user/avatar/:id/:filename', {
    ...picture,
    about: 'Returns the avatar of a user. Visible to all callers.',
    source: FILES,
    tokenScopes: 'any',
    params: ShowAvatar,
  })
  ofUser(call: Call<ShowAvatar>): Promise<FileAnswer> {
    return this.findAvatarFile('user', call, call.params.id, true);
  }

  @Endpoint('GET', '//uploads/-/system/topics/topic/avatar/:id/:filename', {
    ...picture,
    about: 'Returns the avatar of a topic. Visible to all callers.',
    source: FILES,
    tokenScopes: 'any',
    params: ShowAvatar,
  })
  ofTopic(call: Call<ShowAvatar>): Promise<FileAnswer> {
    return this.findAvatarFile('topic', call, call.params.id, true);
  }

  @Endpoint('GET', '//uploads/-/system/group/avatar/:id/:filename', {
    ...ofGroup,
    about: 'Returns the avatar file of a group that the caller can see.',
    source: FILES,
    params: ShowGroupOrProjectAvatar,
  })
  fileOfGroup(call: Call<ShowGroupOrProjectAvatar, GroupScope>): Promise<FileAnswer> {
    return this.findAvatarFileOfParent('group', call);
  }

  @Endpoint('GET', '//uploads/-/system/project/avatar/:id/:filename', {
    ...ofProject,
    about: 'Returns the avatar file of a project that the caller can see.',
    source: FILES,
    params: ShowGroupOrProjectAvatar,
  })
  fileOfProject(call: Call<ShowGroupOrProjectAvatar, ProjectScope>): Promise<FileAnswer> {
    return this.findAvatarFileOfParent('project', call);
  }

  @Endpoint('GET', '/groups/:id/avatar', {
    ...ofGroup,
    about: 'Returns the avatar of a group.',
    source: 'reference identity-and-import 2.1',
  })
  ofGroup(call: Call<object, GroupScope>): Promise<FileAnswer> {
    return this.findAvatarFileOfParent('group', call);
  }

  @Endpoint('GET', '/projects/:id/avatar', {
    ...ofProject,
    about: 'Returns the avatar of a project.',
    source: 'reference identity-and-import 10.2',
  })
  ofProject(call: Call<object, ProjectScope>): Promise<FileAnswer> {
    return this.findAvatarFileOfParent('project', call);
  }

  private findAvatarFileOfParent(
    kind: AvatarKind,
    call: Call<FilenameParams, GroupScope | ProjectScope>,
  ): Promise<FileAnswer> {
    return this.findAvatarFile(kind, call, call.within.id, call.within.visibility === 'public');
  }

  /** Returns the avatar. If the URL contains a file name, it must be the current one: former names answer 404. */
  private async findAvatarFile(
    kind: AvatarKind,
    { params, knownVersions }: Pick<Call<FilenameParams>, 'params' | 'knownVersions'>,
    id: number,
    isPublic: boolean,
  ): Promise<FileAnswer> {
    const found = await this.queries.findAvatar(kind, id, knownVersions);
    if (!found || (params.filename ?? found.filename) !== found.filename) throw new NotFound('Avatar');
    const { bytes: stream, media_type: mediaType, digest: version } = found;
    return { stream, mediaType, version, filename: found.filename, isInline: true, isPublic };
  }
}
