import { Controller } from '@nestjs/common';
import type { Call, FileAnswer, GroupScope, ProjectScope } from '@rookery/api-v4';
import { anyone, Endpoint, file, group as inGroup, json, project as inProject, signedIn } from '@rookery/api-v4';
import type { SignedInViewer } from '@rookery/kernel';
import { InvalidParameters, NotFound } from '@rookery/kernel';
import { Links } from '@rookery/platform';
import { AvatarFileParams, OwnAvatarParams, SourceAvatarFileParams } from './avatars.dto';
import { AvatarsQueries } from './avatars.queries';
import { Avatars } from './avatars.service';
import type { AvatarKind } from './avatars.service';

const FILES = 'decisions 7; reference identity-and-import 2.6';
const picture = { may: anyone(), answers: file('image/*'), fails: [304, 404] } as const;
const ofGroup = { ...picture, within: inGroup('id') } as const;
const ofProject = { ...picture, within: inProject('id') } as const;

interface Named {
  readonly filename?: string;
}

@Controller()
export class AvatarsController {
  constructor(
    private readonly avatars: Avatars,
    private readonly queries: AvatarsQueries,
    private readonly links: Links,
  ) {}

  @Endpoint('GET', '//uploads/-/system/user/avatar/:id/:filename', {
    ...picture,
    about: 'The picture of a user, for everybody.',
    source: FILES,
    tokenScopes: 'any',
    params: AvatarFileParams,
  })
  ofUser(call: Call<AvatarFileParams>): Promise<FileAnswer> {
    return this.file('user', call, call.params.id, true);
  }

  @Endpoint('GET', '//uploads/-/system/topics/topic/avatar/:id/:filename', {
    ...picture,
    about: 'The picture of a topic, for everybody.',
    source: FILES,
    tokenScopes: 'any',
    params: AvatarFileParams,
  })
  ofTopic(call: Call<AvatarFileParams>): Promise<FileAnswer> {
    return this.file('topic', call, call.params.id, true);
  }

  @Endpoint('GET', '//uploads/-/system/group/avatar/:id/:filename', {
    ...ofGroup,
    about: 'The picture of a group, for those who may see it.',
    source: FILES,
    params: SourceAvatarFileParams,
  })
  fileOfGroup(call: Call<SourceAvatarFileParams, GroupScope>): Promise<FileAnswer> {
    return this.fileWithin('group', call);
  }

  @Endpoint('GET', '//uploads/-/system/project/avatar/:id/:filename', {
    ...ofProject,
    about: 'The picture of a project, for those who may see it.',
    source: FILES,
    params: SourceAvatarFileParams,
  })
  fileOfProject(call: Call<SourceAvatarFileParams, ProjectScope>): Promise<FileAnswer> {
    return this.fileWithin('project', call);
  }

  @Endpoint('GET', '/groups/:id/avatar', {
    ...ofGroup,
    about: 'The picture of a group.',
    source: 'reference identity-and-import 2.1',
  })
  ofGroup(call: Call<object, GroupScope>): Promise<FileAnswer> {
    return this.fileWithin('group', call);
  }

  @Endpoint('GET', '/projects/:id/avatar', {
    ...ofProject,
    about: 'The picture of a project.',
    source: 'reference identity-and-import 10.2',
  })
  ofProject(call: Call<object, ProjectScope>): Promise<FileAnswer> {
    return this.fileWithin('project', call);
  }

  @Endpoint('PUT', '/user/avatar', {
    about: "Changes or removes the caller's own picture.",
    source: 'decisions 7',
    may: signedIn(),
    params: OwnAvatarParams,
    answers: json<{ avatar_url: string | null }>({
      type: 'object',
      properties: { avatar_url: { type: ['string', 'null'] } },
      required: ['avatar_url'],
    }),
  })
  async changeOwn({ viewer, params }: Call<OwnAvatarParams, undefined, SignedInViewer>) {
    if (params.avatar === undefined) throw new InvalidParameters(['avatar is missing']);
    const path = await this.avatars.changeOwn(viewer.userId, params.avatar);
    return { avatar_url: path === null ? null : this.links.web(path.slice(1)) };
  }

  private fileWithin(kind: AvatarKind, call: Call<Named, GroupScope | ProjectScope>): Promise<FileAnswer> {
    return this.file(kind, call, call.within.id, call.within.visibility === 'public');
  }

  /** The picture under the name in the URL, where there is one: an old name leads nowhere. */
  private async file(
    kind: AvatarKind,
    { params, knownVersions }: Pick<Call<Named>, 'params' | 'knownVersions'>,
    id: number,
    isPublic: boolean,
  ): Promise<FileAnswer> {
    const found = await this.queries.of(kind, id, knownVersions);
    if (!found || (params.filename ?? found.filename) !== found.filename) throw new NotFound('Avatar');
    const { bytes: stream, media_type: mediaType, digest: version } = found;
    return { stream, mediaType, version, filename: found.filename, isInline: true, isPublic };
  }
}
