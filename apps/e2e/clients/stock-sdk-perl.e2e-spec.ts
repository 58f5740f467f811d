import { itWorksWithSdk } from '../support/sdk-suite';

describe('the unmodified Perl client', () => {
  itWorksWithSdk({ packages: ['libgitlab-api-v4-perl'], run: ['/usr/bin/perl', 'gitlab-api-v4.pl'] });
});
