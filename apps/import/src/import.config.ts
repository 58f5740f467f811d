import { IMPORT_TYPES } from '@rookery/contracts';
import { defineSettings, setting } from '@rookery/platform';

/** Settings of the import service. */
export const importSettings = defineSettings('import', {
  sources: setting.list('IMPORT_SOURCES', {
    default: [...IMPORT_TYPES],
    check: (items) => {
      const unknown = items.find((item) => !IMPORT_TYPES.some((type) => type === item));
      return unknown === undefined
        ? null
        : `holds ${JSON.stringify(unknown)}, which is none of ${IMPORT_TYPES.join(', ')}`;
    },
    about: 'Kinds of hosts that users may import projects from.',
  }),
  repohostApiUrl: setting.url('IMPORT_REPOHOST_API_URL', {
    default: 'https://api.bitbucket.org/2.0',
    protocols: ['http', 'https'],
    about: 'Address of the API of the repository service that `/import/repohost` reads.',
  }),
  perUser: setting.int('IMPORT_PER_USER_COUNT', {
    default: 2,
    min: 1,
    about: 'Imports of one user that run at the same time. Others wait, so that they delay no imports of other users.',
  }),
  repositoryBytes: setting.int('IMPORT_REPOSITORY_BYTES', {
    default: 2 ** 31,
    min: 2 ** 20,
    about: 'Largest repository that may be imported.',
  }),
  repositoryMs: setting.int('IMPORT_REPOSITORY_MS', {
    default: 3_600_000,
    min: 1000,
    about: 'Longest time for fetching the repository of an import, and for storing it.',
  }),
  attachmentBytes: setting.int('IMPORT_ATTACHMENT_BYTES', {
    default: 2 ** 31,
    min: 2 ** 20,
    about: 'Most bytes of all files that the texts of one import link to. The links to further files stay.',
  }),
  attachmentFiles: setting.int('IMPORT_ATTACHMENT_COUNT', {
    default: 10_000,
    min: 0,
    about: 'Most files that one import requests for its texts. The links to further files stay.',
  }),
});
