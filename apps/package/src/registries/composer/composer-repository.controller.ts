import { Controller, Inject } from '@nestjs/common';
import { Endpoint, file, json } from '@rookery/api-v4';
import type { Call, FileAnswer, GroupScope } from '@rookery/api-v4';
import { CLOCK, NotFound } from '@rookery/kernel';
import type { Clock } from '@rookery/kernel';
import { Links } from '@rookery/platform';
import { basicGroupRegistry } from '../../packages/packages.permission';
import { ShowComposerPackage, ShowComposerRepository } from './composer.dto';
import { composerPackageDocument, composerRepositoryDocument } from './composer.presenter';
import { ComposerQueries } from './composer.queries';

const COMPOSER = '/group/:id/-/packages/composer';
const registry = { ...basicGroupRegistry, source: 'reference packages-and-admin 4.11' } as const;
const text = { type: 'string' };
const REPOSITORY = {
  type: 'object',
  properties: {
    packages: { type: 'array', items: { type: 'object' }, maxItems: 0, description: 'Always empty.' },
    'metadata-url': { ...text, description: 'Path of the document of a package.' },
    'available-packages': { type: 'array', items: text, description: 'Names; left out above 5,000 of them.' },
  },
  required: ['packages', 'metadata-url'],
} as const;
const PACKAGE = {
  type: 'object',
  properties: {
    packages: {
      type: 'object',
      description: 'Versions by name of the package and version: the fields of `composer.json` and these.',
      additionalProperties: {
        type: 'object',
        additionalProperties: {
          type: 'object',
          properties: {
            name: { ...text, description: 'Name of the package.' },
            version: { ...text, description: 'Version, from the tag or branch.' },
            uid: { type: 'integer', description: 'Id of the package.' },
            dist: { type: 'object', additionalProperties: text, description: 'The archive.' },
            source: { type: 'object', additionalProperties: text, description: 'The repository.' },
          },
          required: ['name', 'version', 'uid', 'dist', 'source'],
          additionalProperties: {},
        },
      },
    },
  },
  required: ['packages'],
} as const;
/** A change within this time could be followed by another one that has the same time. Units: milliseconds. */
const SETTLED_MS = 2000;

@Controller()
export class ComposerRepositoryController {
  constructor(
    private readonly composer: ComposerQueries,
    private readonly links: Links,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  @Endpoint('GET', `${COMPOSER}/packages.json`, {
    ...registry,
    about: 'Describes the Composer repository of a group.',
    params: ShowComposerRepository,
    answers: json<object>(REPOSITORY),
    aliases: [`${COMPOSER}/packages`],
  })
  async showRepository({ within, viewer, params }: Call<ShowComposerRepository, GroupScope>): Promise<object> {
    const { pathname } = new URL(this.links.apiUrl(`group/${encodeURIComponent(params.id)}/-/packages/composer`));
    return composerRepositoryDocument(pathname, await this.composer.listNames(within, viewer));
  }

  @Endpoint('GET', `${COMPOSER}/p2/*package_name`, {
    ...registry,
    about: 'Describes the versions of a Composer package in a group.',
    params: ShowComposerPackage,
    answers: file('application/json', PACKAGE),
    fails: [304, 404],
  })
  async showPackage({ within, viewer, params }: Call<ShowComposerPackage, GroupScope>): Promise<FileAnswer> {
    const [, name = '', suffix] = /^(.+?)(~dev)?\.json$/.exec(params.package_name) ?? [];
    const rows = await this.composer.listVersions(within, viewer, name);
    const text = composerPackageDocument(this.links, name, rows, suffix === undefined ? 'tags' : 'branches');
    if (text === null) throw new NotFound('Package');
    const lastModified = new Date(Math.max(...rows.map((row) => row.changed_at.getTime())));
    const isSettled = this.clock.now().getTime() - lastModified.getTime() > SETTLED_MS;
    return {
      ...{ stream: Buffer.from(text), mediaType: 'application/json', cacheControl: 'private, no-cache' },
      ...(isSettled ? { lastModified } : {}),
      vary: 'Authorization, Private-Token, Job-Token, Deploy-Token',
    };
  }
}
